# shellcheck shell=bash
# Programs that run a step's code must say that they have come to their end, because that code may have ended the
# process. To be sourced by scripts that have called make_scratch of scripts/scratch.sh.

# finishes COMMAND...: runs a program of the lab, or a tool that runs one, and returns its status. The status is 1,
# and a sentence says why, when it is 0 and the program has not said that it finished (common/finish).
finishes() {
  local mark status=0
  mark=$scratch/finished.$BASHPID.$RANDOM
  LAB_FINISHED=$mark "$@" || status=$?
  if [ "$status" -eq 0 ] && ! [ -s "$mark" ]; then
    echo "error: $1 ended with status 0, but the program had not finished: something in it, such as the step's" \
      "code, ended the process" >&2
    status=1
  fi
  rm -f "$mark"
  return "$status"
}

# tests_finished LOG: how many tests of a test program ran to their end, as it says in its log (common/tests/finished.c).
tests_finished() { sed -n 's/^finished: \([0-9]*\) tests$/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }

# tests_passed STATUS LOG: whether a test program that ended with STATUS has passed: with 0, and with as many tests
# finished as Criterion tells, which are some.
tests_passed() {
  local tested finished
  tested=$(sed 's/\x1b\[[0-9;]*m//g' "$2" | sed -n 's/.*Synthesis: Tested: *\([0-9]*\).*/\1/p' | tail -n 1)
  finished=$(tests_finished "$2")
  [ "$1" -eq 0 ] && [ "$finished" -gt 0 ] && [ "$finished" -eq "${tested:-0}" ]
}
