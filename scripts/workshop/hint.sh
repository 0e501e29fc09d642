#!/usr/bin/env bash
# Prints the next hint of a step: scripts/workshop/hint.sh STEP steps/STEP/hints.md has three, under the headings
# "## 1" to "## 3", from vague to plain. How many were given is kept beside the participant's file; after the last,
# all are printed again.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
verb=hint
need_step "$@"
step=$1
hints=steps/$step/hints.md
if [ ! -f "$hints" ]; then
  echo "error: step ${step%%_*} has no hints: it has no $hints" >&2
  exit 2
fi
given=$(cat "$work/.state/$step/hints" 2>/dev/null || echo 0)
in_all=$(grep -c '^## [0-9]' "$hints")
hint() {
  echo "Hint $1 of $in_all for ${step}:"
  awk -v wanted="$1" '/^## / { on = $2 == wanted; next } on' "$hints" | sed -e '1{/^$/d}' -e '${/^$/d}' -e 's/^/  /'
}
if [ "$given" -lt "$in_all" ]; then
  given=$((given + 1))
  echo "$given" >"$(state_folder "$step")/hints"
  hint "$given"
else
  for ((n = 1; n <= in_all; n++)); do hint "$n"; done
  echo "These are all. make step${step%%_*} solution shows the difference to the lab's own."
fi
