#!/bin/bash -p
# Makes a new step: scripts/workshop/new.sh STEPS_FOLDER 30_name [06]. Writes STEPS_FOLDER/30_name/attention.cu,
# which is step 06 (or the last there is) under the new name and computes what that computes, and a README.md of the
# usual sections. Nothing else knows the steps by name.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
steps=$1
step=${2:-}
from=${3:-}
if ! [[ $step =~ ^[0-9][0-9]_[a-z0-9_]+$ ]]; then
  echo "error: STEP is \"$step\": give two digits and a name, such as make new STEP=30_name" >&2
  exit 2
fi
number=${step%%_*}
for other in "$steps/$number"_*; do
  if [ -e "$other" ]; then
    echo "error: there is a step $number already: $other" >&2
    exit 2
  fi
done
before=
for source in "$steps"/[0-9]*_*/attention.cu; do
  name=${source%/attention.cu}
  name=${name##*/}
  if [ -z "$from" ] || [ "${name%%_*}" = "$from" ]; then before=$name; fi
done
if [ -z "$before" ]; then
  echo "error: there is no step $from to start from: give the number of one, such as FROM=06" >&2
  exit 2
fi
summary='what it adds, in a few words'
folder=$steps/$step
partial=$(folder_beside "$folder")
trap 'rm -rf "$partial"' EXIT
# The comment on top is the step's own story; only what it says of GPUs is taken over.
{
  printf '// %s: %s.\n//\n' "$step" "$summary"
  sed -n '/^\/\/ \(Needs\|GPUs\): /p' "$steps/$before/attention.cu"
  printf '// After: %s\n//\n' "$before"
  printf '// Say here how it differs from %s, and which data a block, a warp and a thread own.\n//\n' "$before"
  printf '// Cost for each head: what is read and written how often, and what is left to save.\n'
  awk -v mode=solution -f scripts/workshop/exercise.awk "$steps/$before/attention.cu" |
    awk -v before="$before" -v step="$step" -v summary="$summary" '
      !body && /^\/\// { next }
      { body = 1 }
      /^const char \*attention_name/ { sub(before, step) }
      /^const char \*attention_summary/ { summarised = 1 }
      summarised && /"/ { sub(/"[^"]*"/, "\"" summary "\""); summarised = 0 }
      { print }'
} >"$partial/attention.cu"
cat >"$partial/README.md" <<TEXT
# ${step/_/ }: $summary

## The idea

This section says which cost the step before leaves, and how this step saves it, with a picture.

## Predict

1. A question whose answer is a number.

## Measure

    make step$number run
    make step$number count
    make step$number ptxas

## In the diff

\`make step$number diff\` shows the lines that carry the idea.
TEXT
mv -T "$partial" "$folder"
cat <<TEXT
written: $folder/attention.cu and README.md, from $before
then: make step$number check; mark what an exercise should leave out (see steps/04_online_softmax);
hints.md with three hints for each part; goals.txt; planted bugs in $folder/bugs
TEXT
