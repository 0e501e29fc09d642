#!/usr/bin/env bash
# Runs the suite on participants' files: scripts/workshop/check.sh DEVICE FOLDER STEP... FOLDER holds the test
# programs step04-check, ...; prints for each step what is still to be written, or the first failure, or that it
# passes; and keeps the verdict for `make progress`. QUICK=1 stops at the first failure and leaves out the tests of
# very large grids. Exit status 1 when a step does not pass.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/finished.sh
. scripts/finished.sh
make_scratch
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
device=$1
folder=$2
shift 2
log=$scratch/log
options=(--jobs 2)
export LAB_LARGE=1
if [ -n "${QUICK:-}" ]; then options=(--jobs 1 --fail-fast --filter '*/!(more_*)'); fi

# The first failed test of Criterion's log: its name, and what it said.
first_failure() {
  awk '
    { gsub(/\033\[[0-9;]*m/, "") }
    /^=========/ { print; next }
    /^\[----\]/ {
      sub(/^\[----\] */, "")
      if ($0 != "" && !/Assertion [Ff]ailed$/) said = said "  " $0 "\n"
      next
    }
    /^\[FAIL\]/ && !name {
      name = $2
      sub(/:$/, "", name)
      first = said
    }
    { said = "" }
    /Synthesis:/ {
      tested = passing = $0
      sub(/.*Tested: */, "", tested)
      sub(/.*Passing: */, "", passing)
      printf "%d of %d tests pass; the first that does not is %s:\n%s", passing, tested, name, first
    }' "$log"
}

failed=0
for step in "$@"; do
  file=$(work_file "$step")
  if ! say_parts_left "$file"; then
    note_check "$step" failed "$device"
    failed=1
    continue
  fi
  [ -t 1 ] && printf '  ....  %s' "$file"
  status=0
  "$folder/step${step%%_*}-check" "${options[@]}" >"$log" 2>&1 || status=$?
  [ -t 1 ] && printf '\r\033[K'
  if tests_passed "$status" "$log"; then
    # Tests that were left out are not known to pass.
    if [ -n "${QUICK:-}" ]; then
      echo "check: $file passes all but the largest tests: make step${step%%_*} check WORK=1 runs them"
    else
      note_check "$step" passed "$device"
      echo "check: $file passes"
    fi
  else
    note_check "$step" failed "$device"
    failed=1
    if [ "$status" -ne 0 ] && grep -q 'Synthesis:' "$log"; then first_failure; else tail -n 20 "$log"; fi
    echo "check: $file fails"
  fi
done
exit $failed
