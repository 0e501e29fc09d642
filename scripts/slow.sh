#!/bin/bash -p
# Planted bugs whose results are right, and which are only slow: scripts/slow.sh STEP...
# Applies each steps/NN_name/slow/*.patch to a copy of its step, and demands that the timeline on the emulator shows what
# the patch expects, and does not show it for the step itself. Exit status 1 when it does not.
#   scripts/slow.sh shows STEPS_FOLDER PATCH    whether the timeline of that folder's step shows what the patch expects
# The head of a patch is that of the other bugs (scripts/bugs.sh), with Caught-by: timeline.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh

shows() { # STEPS_FOLDER NUMBER EXPECTED
  local program few=1 # configuration for each head_dim
  if [ "$1" = steps ]; then few=; fi # which is built in any case
  program=$(FIRST_CONFIGURATION=$few bug_build cpu '' "$1" "step$2" FIRST_CONFIGURATION=$few) || exit 2
  COUNT=1 BLOCK='' KERNEL='' scripts/timeline.sh cpu "$program" >"$scratch/said" || exit 2
  grep -q -F -- "$3" "$scratch/said"
}
number_of() { basename "$(dirname "$1")" | sed 's/_.*//'; } # STEPS_FOLDER/NN_name/attention.cu

if [ "${1-}" = shows ]; then
  shows "$2" "$(number_of "$2"/*/attention.cu)" "$(bug_field "$3" Expect)"
  exit
fi
failed=0
for step in "$@"; do
  for patch in "steps/$step"/slow/*.patch; do
    if ! [ -f "$patch" ]; then continue; fi
    expected=$(bug_field "$patch" Expect)
    folder=build/bugs/$(bug_id "$patch")
    bug_apply "$patch" "$folder" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && exit 2; }
    if ! shows "$folder/steps" "${step%%_*}" "$expected"; then
      echo "FAIL  $patch: the timeline does not show: $expected"
      failed=1
    elif shows steps "${step%%_*}" "$expected"; then
      echo "FAIL  $patch: the timeline of the step itself shows it, too: $expected"
      failed=1
    else
      echo "$(bug_id "$patch"): timeline shows: $expected"
    fi
  done
done
exit $failed
