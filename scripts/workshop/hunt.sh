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
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
verb=$1
bug=${2:-}

mapfile -t patches < <(for patch in steps/*/bugs/*.patch; do
  printf '%s %s\n' "$(bug_id "$patch" | sha256sum | cut -c 1-16)" "$patch"
done | sort | cut -d ' ' -f 2)

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
  local patch=${patches[bug - 1]} scratch
  mkdir -p "${folder%/*}"
  scratch=$(folder_beside "$folder")
  # shellcheck disable=SC2064 # the name is local
  trap "rm -rf ${scratch@Q}" EXIT
  bug_apply "$patch" "$scratch" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && rm -rf "$scratch" && exit 2; }
  mv "$scratch"/steps/* "$scratch/"
  rm -r "$scratch/steps" "$scratch/log"
  cp "$patch" "$scratch/.planted"
  if [ ! -f "$planted" ]; then rm -rf "$folder"; fi
  mv -T "$scratch" "$folder" 2>/dev/null || rm -rf "$scratch" # another run has handed it out meanwhile
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
