#!/bin/bash -p
# Planted bugs to be found: scripts/workshop/hunt.sh VERB [BUG or STEP]
#   list      how many there are, and which were handed out
#   hand-out  puts the spoiled step into work/hunt/BUG, unless it is there, and prints that folder; takes several numbers
#   describe  says what to do with it
#   of        hands out a bug of STEP and describes it: the one at hand, or else the next one
#   reveal    tells what was planted
#   key       lists all bugs with step, tools that see them, and title, for the leader of a workshop
#   note TOOL HASH, behind the BUG: check or sanitize has just found nothing in the file with this hash: says whether the bug
#             is fixed, which it is when the file has changed and neither of them finds anything in it. The last bugs, steps/NN/slow, give the
#             right results and are only slow: they are fixed when the timeline does not show any more what they expect
#   progress  a line on the bugs that were handed out; nothing when there are none
# The numbers come from a shuffle that is always the same, so a number does not show which step a bug is in. Number 1 is
# chosen: GUIDE.md's first route hunts it with sanitize, behind step 04.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
first_bug=steps/04_online_softmax/bugs/5_no_warp_barrier.patch
verb=${1:-}
bug=${2:-}
case $verb in
list | hand-out | describe | of | reveal | key | note | progress) ;;
*)
  echo "error: hunt.sh was given $([ -n "$verb" ] && echo "the verb \"$verb\", which it does not have" || echo no verb): give" \
    "it list, hand-out, describe, of, reveal, key, note or progress, as in scripts/workshop/hunt.sh describe 1" >&2
  exit 2
  ;;
esac

if [ "$verb" = progress ]; then
  given=0 fixed=0 revealed=0
  for folder in "$work"/hunt/*/; do
    if [ ! -f "$folder/.planted" ]; then continue; fi
    given=$((given + 1))
    if [ -f "$folder/.fixed" ]; then fixed=$((fixed + 1)); fi
    if [ -f "$folder/.revealed" ]; then revealed=$((revealed + 1)); fi
  done
  if [ $given -gt 0 ]; then echo "hunt: $given bug$([ $given -eq 1 ] || echo s) handed out, $fixed fixed, $revealed revealed"; fi
  exit
fi

# A bug that says `Contracted: yes` needs a build of its own, which a hunt does not make.
mapfile -t patches < <(grep -L '^Contracted: ' steps/*/bugs/*.patch)
for i in "${!patches[@]}"; do # a file for each name, so that one program makes all sums
  id=${patches[i]%/bugs/*}
  name=${patches[i]##*/}
  echo "${id##*/}-${name%.patch}" >"$scratch/$i"
done
mapfile -t shuffled < <(cd "$scratch" && sha256sum -- * | sort | sed 's/.* //')
mapfile -t patches < <(
  for i in "${shuffled[@]}"; do
    if [ "${patches[i]}" = "$first_bug" ]; then echo "0 ${patches[i]}"; else echo "1 ${patches[i]}"; fi
  done | sort -s -n -k 1,1 | cut -d ' ' -f 2
)
patches+=(steps/*/slow/*.patch)
is_slow() { [ "$(bug_field "$1" Caught-by)" = timeline ]; }

# seen_by STEP PATCH: the tools that see the bug on the emulator, as recorded by make bugs RECORD=1; where nothing is
# recorded, those that must see it. The title tells the bug: a patch that was handed out has no name.
recorded_bugs=plots/data/emulated-nvidia-h200/bugs.csv
seen_by() {
  local tools=''
  if [ -f "$recorded_bugs" ]; then
    tools=$(awk -f scripts/csv.awk -f scripts/workshop/seen_by.awk -v step="$1" -v title="$(bug_field "$2" Title)" \
      "$recorded_bugs")
  fi
  echo "${tools:-$(bug_field "$2" Caught-by)}"
}

if [ "$verb" = list ]; then
  echo "There are bugs 1 to ${#patches[@]}: make hunt BUG=1 hands out the first, make step12 hunt one of step 12."
  for folder in "$work"/hunt/*/; do
    if [ ! -f "$folder/.planted" ]; then continue; fi
    number=$(basename "$folder")
    state=
    if [ -f "$folder/.fixed" ]; then state=", fixed"; fi
    if [ -f "$folder/.revealed" ]; then state+=", revealed"; fi
    echo "  bug $number: $(echo "$folder"[0-9]*_*/attention.cu | sed 's|//*|/|g')$state"
  done | sort -V
  exit
fi
if [ "$verb" = key ]; then
  printf 'bug\tstep\tseen by\ttitle\n' >"$scratch/key"
  for i in "${!patches[@]}"; do
    step=${patches[i]#steps/}
    step=${step%%/*}
    printf '%s\t%s\t%s\t%s\n' $((i + 1)) "$step" "$(seen_by "$step" "${patches[i]}")" \
      "$(bug_field "${patches[i]}" Title)"
  done >>"$scratch/key"
  awk -f scripts/align.awk "$scratch/key"
  exit
fi
# choose BUG: the bug that the functions below work on.
choose() {
  bug=$1
  if ! [[ $bug =~ ^[1-9][0-9]{0,5}$ ]] || [ "$bug" -gt "${#patches[@]}" ]; then
    echo "error: BUG is \"$bug\": give a number from 1 to ${#patches[@]}, such as make hunt BUG=1" >&2
    exit 2
  fi
  folder=$work/hunt/$bug
  planted=$folder/.planted # what was handed out stays what it is, whatever bugs are added later
}

# The lines that mark a step's exercises tell what each does, and where most faults are.
without_marks() { awk -v mode=solution -f scripts/workshop/exercise.awk "$1"; }

hand_out() {
  if ! command -v patch >/dev/null; then
    echo "error: planting bugs needs the program patch: run make deps, or install the package patch" >&2
    exit 2
  fi
  local patch=${patches[bug - 1]} new step source
  need_writable "${folder%/*}"
  new=$(folder_beside "$folder")
  scratch_paths+=("$new")
  # The errors are kept elsewhere, because on a full disk there is no room for it beside the bug.
  if ! bug_apply "$patch" "$new" >"$scratch/log" 2>&1; then
    cat "$scratch/log" >&2
    echo "error: bug $bug cannot be written to $folder, as the lines above say: where it is for want of room, make clean" \
      "removes what was built" >&2
    exit 2
  fi
  step=$(basename "$new"/steps/*)
  source=steps/$step/attention.cu
  mv "$new/steps/$step" "$new/"
  without_marks "$source" >"$new/right"
  without_marks "$new/$step/attention.cu" >"$new/spoiled"
  # Its lines are those of the file that is handed out.
  {
    sed '/^--- /,$d' "$patch"
    diff -u --label "a/$source" --label "b/$source" "$new/right" "$new/spoiled" || [ $? -eq 1 ]
  } >"$new/.planted"
  mv "$new/spoiled" "$new/$step/attention.cu"
  rm -r "$new/steps" "$new/right"
  file_hash "$new/$step/attention.cu" >"$new/.original"
  if [ ! -f "$planted" ]; then rm -rf "$folder"; fi
  mv -T "$new" "$folder" 2>/dev/null || true # another run has handed it out meanwhile
}

# next_of STEP: sets `bug` to the bug of the step that was handed out and is neither fixed nor revealed, or else to the
# first that was not handed out; to nothing when none is left.
next_of() {
  local folder i
  bug=
  for folder in "$work"/hunt/*/; do
    if [ -f "$folder$1/attention.cu" ] && [ ! -f "$folder/.fixed" ] && [ ! -f "$folder/.revealed" ]; then
      bug=$(basename "$folder")
      return
    fi
  done
  for i in "${!patches[@]}"; do
    if [[ ${patches[i]} == "steps/$1/"* ]] && [ ! -f "$work/hunt/$((i + 1))/.planted" ]; then
      bug=$((i + 1))
      return
    fi
  done
}

if [ "$verb" = of ]; then
  verb=hunt need_step "${@:2}"
  step=$2
  all=$(printf '%s\n' "${patches[@]}" | grep -c "^steps/$step/" || true)
  if [ "$all" -eq 0 ]; then
    echo "error: no bugs are planted in step ${step%%_*}: make hunt BUG=1 hands out one of another step" >&2
    exit 2
  fi
  next_of "$step"
  if [ -z "$bug" ]; then
    echo "All $all bugs of step ${step%%_*} were handed out, and are fixed or revealed: make hunt lists them."
    exit
  fi
  choose "$bug"
  if [ ! -f "$planted" ]; then hand_out; fi
  "$0" describe "$bug"
  echo "When it is fixed or revealed, make step${step%%_*} hunt hands out the next of the $all bugs of this step."
  exit
fi

choose "$bug"
case $verb in
hand-out)
  for bug in "${@:2}"; do
    choose "$bug"
    if [ ! -f "$planted" ]; then hand_out; fi
    echo "$folder"
  done
  ;;
describe)
  file=$(echo "$folder"/*/attention.cu)
  step=${file#"$folder"/}
  step=${step%%/*}
  if is_slow "$planted"; then
    cat <<TEXT
Bug $bug is in $file: $step with one thing changed.
Its results are right, but it is slow. What waits for what, and since which line?
  make hunt BUG=$bug timeline | count | run ARGS="--seq 4096" (times on a GPU), beside those of the lab's step: make step${step%%_*} timeline
Mend the line in that file; timeline then says whether the bug is fixed.
  make hunt BUG=$bug reveal
TEXT
    exit
  fi
  cat <<TEXT
Bug $bug is in $file: $step with one thing changed.
Which tool sees it? On which shapes? Which line is it?
  make hunt BUG=$bug check | sanitize | count | run ARGS="--seq 100 --causal"
Mend the line in that file; check and sanitize then say whether the bug is fixed.
  make hunt BUG=$bug reveal
TEXT
  ;;
note)
  tool=$3
  hash=$4
  file=$(echo "$folder"/*/attention.cu)
  if [ "$hash" != "$(file_hash "$file")" ]; then
    echo "$file has been changed since $tool began, which found nothing in the file before: make hunt BUG=$bug $tool looks again."
    exit
  fi
  need_writable "$folder"
  echo "$hash" >"$folder/.passed-$tool"
  if is_slow "$planted"; then
    if [ "$tool" != timeline ]; then
      echo "Its results are right, as they were. Is bug $bug fixed? make hunt BUG=$bug timeline says so."
    else
      shown=0
      scripts/slow.sh shows "$folder" "$planted" || shown=$?
      case $shown in
      0) echo "Bug $bug is still there. make step$(basename "$(dirname "$file")" | sed 's/_.*//') timeline shows the lab's step." ;;
      1)
        : >"$folder/.fixed"
        echo "Bug $bug is fixed: $(bug_field "$planted" Title)."
        ;;
      *) exit 2 ;; # it could not be run
      esac
    fi
    exit
  fi
  if [ "$hash" = "$(cat "$folder/.original" 2>/dev/null)" ]; then
    echo "Bug $bug is still there: $tool does not see it. Another tool does."
    exit
  fi
  for other in check sanitize; do
    if [ "$hash" != "$(cat "$folder/.passed-$other" 2>/dev/null)" ]; then
      echo "Is bug $bug fixed? make hunt BUG=$bug $other must find nothing, too."
      exit
    fi
  done
  : >"$folder/.fixed"
  echo "Bug $bug is fixed: $(bug_field "$planted" Title)."
  ;;
reveal)
  need_writable "$folder"
  : >"$folder/.revealed"
  echo "Bug $bug: $(bug_field "$planted" Title)."
  file=$(echo "$folder"/*/attention.cu)
  step=$(basename "${file%/attention.cu}")
  echo "Seen by $(seen_by "$step" "$planted")."
  echo
  awk '/^--- / { exit } /^Story: / { on = 1; sub(/^Story: /, "  ") } on { print }' "$planted"
  sed -n '/^--- /,$p' "$planted"
  if [ ! -f "$folder/.fixed" ]; then
    echo
    echo "Now mend it in $file, and run make hunt BUG=$bug $(bug_field "$planted" Caught-by |
      sed 's/,.*//'), which says whether it is fixed."
  fi
  ;;
esac
