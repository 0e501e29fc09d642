# shellcheck shell=bash
# Functions that show the first failed test of a program of tests. To be sourced by scripts that have called make_scratch
# of scripts/scratch.sh. Of tests that ran side by side the program must have been given the option --tap=$scratch/tap.

first_failure_awk=${BASH_SOURCE[0]%/*}/first_failure.awk

# first_failed LOG: the name of the first failed test, as --filter takes it; nothing where it need not run again.
first_failed() { awk -v what=name -f "$first_failure_awk" "$1"; }

# say_first_failure LOG [ALONE]: how many tests pass, the first that does not, and what it said. With QUICK=1 a LOG of tests
# that ran one after the other ends with the first failure, so the number is left out. ALONE is the log of that test alone,
# as `--jobs 1 --verbose --filter NAME` writes it, and is needed where the tests ran side by side. It need not exist where
# first_failed names no test.
say_first_failure() {
  if [ $# -eq 1 ]; then
    awk -v quick="${QUICK:-}" -f "$first_failure_awk" "$1"
    return
  fi
  local files=("$1" from=tap)
  # shellcheck disable=SC2154 # of scratch.sh
  if [ -f "$scratch/tap" ]; then files+=("$scratch/tap"); fi
  files+=(from=alone)
  if [ -f "$2" ]; then files+=("$2"); fi
  awk -f "$first_failure_awk" "${files[@]}"
}
