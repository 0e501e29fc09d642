#!/bin/bash -p
# Prints the next hint for a part of a step's exercise: scripts/workshop/hint.sh STEP [PART]
# steps/STEP/hints.md has three for each part, under the headings "## Part 1: ..." and "### 1" to "### 3", from vague to
# plain. Without PART it is the first part that is still to be written, or the first while the exercise is not begun. How
# many were given of each is kept beside the participant's file; after the last, all of the part are printed again.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
verb=hint
part=${PART:-}
need_step "$@"
step=$1
number=${step%%_*}
need_lab_step "$step"
hints=steps/$step/hints.md
if [ ! -f "$hints" ]; then
  echo "error: step $number has no hints: it has no $hints" >&2
  exit 2
fi
file=$(work_file "$step")
if [ -z "$part" ] && [ -f "$file" ]; then
  part=$(parts_left "$file" | head -n 1 | cut -f 1)
  if [ -z "$part" ] && [ "$(grep -c '// exercise: ' "steps/$step/attention.cu")" -gt 1 ]; then
    echo "error: no part of $file is as the exercise left it: PART says which one the hint is for, as in make step$number hint" \
      "PART=1; make step$number check PART=1 tells whether part 1 is right" >&2
    exit 2
  fi
fi
need_part "$step" "${part:=1}"
folder=$(state_folder "$step")
given=$(cat "$folder/hints.$part" 2>/dev/null || echo 0)
of_part() { awk -v part="$part:" '/^## Part / { on = $3 == part } on' "$hints"; }
in_all=$(of_part | grep -c '^### [0-9]')
hint() {
  echo "Hint $1 of $in_all for part $part of ${step}, $(of_part | sed -n '1s/^## Part [0-9]*: //p'):"
  of_part | awk -v wanted="$1" '/^### / { on = $2 == wanted; next } on' |
    sed -e '1{/^$/d}' -e '${/^$/d}' -e 's/^/  /' -e 's/ *$//'
}
if [ "$given" -lt "$in_all" ]; then
  given=$((given + 1))
  echo "$given" >"$folder/hints.$part"
  hint "$given"
else
  for ((n = 1; n <= in_all; n++)); do hint "$n"; done
  echo "These are all. make step$number fill PART=$part writes the lab's own lines."
fi
