#!/usr/bin/env bash
# Planted bugs to be found: scripts/workshop/hunt.sh VERB [BUG]
#   list      how many there are, and which were handed out
#   hand-out  puts the spoiled step into work/hunt/BUG, unless it is there, and prints that folder
#   describe  says what to do with it
#   reveal    tells what was planted
# The numbers come from a shuffle that is always the same, so a number does not show which step a bug is in.
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
verb=$1
bug=${2:-}

patches=(steps/*/bugs/*.patch)
for i in "${!patches[@]}"; do # a file for each name, so that one program makes all sums
  id=${patches[i]%/bugs/*}
  name=${patches[i]##*/}
  echo "${id##*/}-${name%.patch}" >"$scratch/$i"
done
mapfile -t shuffled < <(cd "$scratch" && sha256sum -- * | sort | sed 's/.* //')
mapfile -t patches < <(for i in "${shuffled[@]}"; do echo "${patches[i]}"; done)

if [ "$verb" = list ]; then
  echo "There are bugs 1 to ${#patches[@]}: make hunt BUG=1 hands out the first."
  for folder in "$work"/hunt/*/; do
    if [ ! -f "$folder/.planted" ]; then continue; fi
    number=$(basename "$folder")
    state=
    if [ -f "$folder/.revealed" ]; then state=", revealed"; fi
    echo "  bug $number: $(echo "$folder"[0-9]*_*/attention.cu | sed 's|//*|/|g')$state"
  done
  exit
fi
if ! [[ $bug =~ ^[1-9][0-9]*$ ]] || [ "$bug" -gt "${#patches[@]}" ]; then
  echo "error: BUG is \"$bug\": give a number from 1 to ${#patches[@]}, such as make hunt BUG=1" >&2
  exit 2
fi
folder=$work/hunt/$bug
planted=$folder/.planted # a copy: what was handed out stays what it is, whatever bugs are added later

hand_out() {
  if ! command -v patch >/dev/null; then
    echo "error: planting bugs needs the program patch: run make deps, or install the package patch" >&2
    exit 2
  fi
  local patch=${patches[bug - 1]} new
  mkdir -p "${folder%/*}"
  new=$(folder_beside "$folder")
  scratch_paths+=("$new")
  bug_apply "$patch" "$new" >"$new/log" 2>&1 || { cat "$new/log" >&2 && exit 2; }
  mv "$new"/steps/* "$new/"
  rm -r "$new/steps" "$new/log"
  cp "$patch" "$new/.planted"
  if [ ! -f "$planted" ]; then rm -rf "$folder"; fi
  mv -T "$new" "$folder" 2>/dev/null || true # another run has handed it out meanwhile
}

case $verb in
hand-out)
  if [ ! -f "$planted" ]; then hand_out; fi
  echo "$folder"
  ;;
describe)
  file=$(echo "$folder"/*/attention.cu)
  step=${file#"$folder"/}
  step=${step%%/*}
  cat <<TEXT
Bug $bug is in $file: $step with one thing changed.
Which tool sees it? On which shapes? Which line is it?
  make hunt BUG=$bug check | sanitize | count | run ARGS="--seq 100 --causal"
  make hunt BUG=$bug reveal
TEXT
  ;;
reveal)
  : >"$folder/.revealed"
  echo "Bug $bug: $(bug_field "$planted" Title)."
  echo "Caught by $(bug_field "$planted" Caught-by)."
  echo
  awk '/^--- / { exit } /^Story: / { on = 1; sub(/^Story: /, "  ") } on { print }' "$planted"
  sed -n '/^--- /,$p' "$planted"
  ;;
esac
