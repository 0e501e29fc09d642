#!/bin/bash -p
# Builds and tests participants' files: scripts/workshop/check.sh DEVICE FOLDER STEP... [-- COMMAND...]
# The command builds FOLDER's test programs, step04-check, ...; for each step the verdict comes first: that it passes, or
# the first failure, or that it does not compile; then what the compiler says, in short. The verdict is kept for
# `make progress`. QUICK=1 stops at the first failure and leaves out the tests of very large grids and of other GPUs;
# make then compiles the step's first configuration alone, unless CONFIG names one. PART=2 says that
# the other parts are the lab's (scripts/workshop/part.sh). HUNT=3 says that the file is that bug to hunt: it has no
# goals, and nothing comes next. Exit status 1 when a step does not pass, and 2 when it lacks the configuration LAB_CONFIG.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/finished.sh
. scripts/finished.sh
# shellcheck source=scripts/first_failure.sh
. scripts/first_failure.sh
make_scratch
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/workshop/diagnostics.sh
. scripts/workshop/diagnostics.sh
device=$1
folder=$2
shift 2
steps=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do steps+=("$1") && shift; done
[ $# -eq 0 ] || shift
log=$scratch/log
# One test may use so many seconds of processor time, which ends an endless loop of the host's code, and take so many
# seconds, which ends code that waits for ever. A busy machine needs far longer for a test than an idle one. The grids of a
# GPU's full size, LAB_LARGE=1, take minutes of processor time, and the emulator's own limit shows the same mistakes.
test_seconds=240
wait_seconds=1200
export LAB_LIMIT=${LAB_LIMIT:-5} # seconds for one block of a kernel, which takes far less
export LAB_TIED=1
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} # tests that run at a time share the cores

# Waits for the last background job, and shows how far it is: on a terminal on one line, else every ten seconds. A
# kernel that has run into its limit would do so in each test that is left: the job is ended.
wait_for() { # WHAT [NUMBER of tests]
  local job=$! began=$SECONDS told=$SECONDS line shown='' columns=80
  [ -t 1 ] && columns=$(tput cols 2>/dev/null || echo 80)
  while kill -0 "$job" 2>/dev/null; do
    if ! kill -0 $PPID 2>/dev/null; then exit 1; fi # make has been killed
    # A look at the log takes processor time from what is waited for, so there is none where nothing has changed.
    if ! [ "$scratch/looked" -nt "$log" ]; then
      : >"$scratch/looked"
      if grep -q 'Launch timed out\|the launch timed out' "$log"; then
        sleep 0.5 # for the rest of the report
        end_below "$job"
        kill "$job" 2>/dev/null || true
      fi
    fi
    if ! [ -t 1 ] && [ $((SECONDS - told)) -lt 10 ]; then
      sleep 0.1
      continue
    fi
    line=$(awk '
      { gsub(/\033\[[0-9;]*m/, "") }
      /^\[(PASS|FAIL)\]/ { ended++ }
      END { if (ended) printf ", %d%s test%s", ended, all, (ended == 1 && all == "" ? "" : "s") }' all="${2:+ of $2}" "$log")
    line="  ....  $1$line, $((SECONDS - began)) s"
    if [ -t 1 ]; then
      # Either fails when the terminal has been closed.
      [ "$line" = "$shown" ] || printf '\r%s\033[K' "${line:0:columns-1}" 2>/dev/null || exit 1
      shown=$line
    else
      told=$SECONDS
      echo "$line" 2>/dev/null || exit 1
    fi
    sleep 0.1
  done
  [ -t 1 ] && printf '\r\033[K'
  wait "$job"
}

unspoiled() { awk -v part="${PART:-}" -f scripts/workshop/unspoiled.awk "$@"; }

# The emulator's report of a launch that has run into the limit, or the sentence of a GPU's limit.
report_of_limit() {
  awk '/^error: the launch timed out/ { print; exit }
    /^=========/ && (on || /Launch timed out/) { print; on = 1; next }
    on { exit }' "$log"
}

build() { # COMMAND...
  : >"$log"
  "$@" >"$scratch/built" 2>&1 &
  wait_for "compiling"
}

# Runs tests of the step's program, with their output in the log, and waits for them.
run_program() { # STEP WHAT NUMBER of tests, OPTION...
  : >"$log"
  (
    ulimit -S -t "$test_seconds"
    exec "$folder/step${1%%_*}-check" "${@:4}" --verbose --timeout "$wait_seconds"
  ) >"$log" 2>&1 &
  wait_for "$2" "$3"
}

at_once=2 # tests
run_tests() { # STEP
  local all=''
  if [ -z "${QUICK:-}" ]; then all=$("$folder/step${1%%_*}-check" --list 2>/dev/null | grep -v each_is_sanitized | grep -c -e '─ ' -e '-- ' || true); fi
  # The lab's list of shapes for its sanitizer is none of the participant's business.
  local options=(--filter '*/!(each_is_sanitized)')
  at_once=2
  if [ -n "${QUICK:-}" ]; then
    at_once=1
    options=(--fail-fast --filter '!(other_gpus)/!(more_*|each_is_sanitized)')
  elif [ -n "$left" ] && [ -z "${PART:-}" ]; then # it fails, and the first failure says enough
    at_once=1
    options+=(--fail-fast)
  fi
  [ $at_once -eq 1 ] || options+=("--tap=$scratch/tap")
  run_program "$1" "$file" "$all" --jobs $at_once "${options[@]}"
}

# Status 1 where the step lacks the configuration that LAB_CONFIG names, which says nothing about the file. The test launches
# no kernel.
has_configuration() { # STEP
  run_program "$1" "$file" '' --filter '@(interface/name_and_summary|group/has_its_configuration)' || true
  if grep -E -o -m 1 'step [^ ]* (has no configuration|has one configuration only|does not split the keys).*' "$log" \
    >"$scratch/refused"; then
    echo "error: $(cat "$scratch/refused")" >&2
    return 1
  fi
}

# Leaves the first failure in $scratch/first. Where tests ran side by side that test runs again alone, because its lines
# stand among those of others.
find_first_failure() { # STEP
  local test all=$log
  if [ $at_once -eq 1 ]; then
    say_first_failure "$log" >"$scratch/first"
    return
  fi
  test=$(first_failed "$log")
  rm -f "$scratch/alone"
  if [ -n "$test" ]; then
    local log=$scratch/alone
    run_program "$1" "the first failure of $file" '' --jobs 1 --filter "$test" || true
  fi
  say_first_failure "$all" "$scratch/alone" >"$scratch/first"
}

# Prints how to run the sanitizer, and for which faults, since a test need not show them.
sanitizer() { # NUMBER of the step
  local verb=step$1
  if [ -n "${HUNT:-}" ]; then verb="hunt BUG=$HUNT"; fi
  echo "make $verb sanitize${PART:+ PART=$PART} looks for a race, a stray access or a missing wait"
}

# Whether the sanitizer may say more than FILE, which shows the first failure. It sees how the threads depend on each
# other, and each access by itself: a fault of an mbarrier, a stray access, or a warp that some lanes have left is often
# what follows of another one.
# On the emulator a NaN that comes of memory says so: where all are of the kernel's own making it finds nothing.
sanitizer_helps() { # FILE
  if [ "$device" = cpu ] && grep -q -E '\. ([0-9]+) of [0-9]+ elements are bad: .*; \1 are NaN or infinite' "$1"; then return 1; fi
  ! grep -q '^=========' "$1" ||
    grep -m 1 '^=========' "$1" | grep -q -E 'mbarrier\.|Invalid ([a-z_]+ )?(read|write|access)|lanes .* have exited'
}

# Says of a file that passes whether it is this step, too, and not only right. Of a part it says so where the step does
# not meet its goals with it. Status 1 where the file turns out to be wrong there, where the threads run in another order.
meet_goals() { # STEP
  : >"$log"
  scripts/workshop/goals.sh "$1" "${STEPS_FOLDER:-$work}" >"$scratch/goals" 2>&1 &
  local status=0
  wait_for "goals of $file" || status=$?
  if [ $status -eq 2 ] && grep -q '^FAILED: ' "$scratch/goals"; then
    if [ -z "${PART:-}" ]; then note_check "$1" failed "$device" "${hash_of[$1]}"; fi
    echo "all tests pass, and the result is wrong where the goals of the step are measured, in another order of threads:"
    sed -n 's/^FAILED: [^:]*: /  /p' "$scratch/goals"
    sanitizer "${1%%_*}"
    echo "check: ${PART:+part $PART of }$file fails"
    return 1
  fi
  if [ -n "${PART:-}" ]; then
    if [ $status -eq 1 ]; then
      echo "check: part $PART of $file passes, with the lab's other parts, and the step does not meet its goals with it:"
      cat "$scratch/goals"
    else
      echo "check: part $PART of $file passes, with the lab's other parts"
    fi
    return
  fi
  case $status in
  0)
    note_check "$1" passed "$device" "${hash_of[$1]}"
    echo "check: $file passes$([ ! -s "$scratch/goals" ] || echo ', and meets the goals of the step:')"
    ;;
  1)
    note_check "$1" right "$device" "${hash_of[$1]}"
    echo "check: $file passes, and does not meet the goals of the step:"
    ;;
  *) echo "check: $file passes; its goals could not be measured:" && note_check "$1" passed "$device" "${hash_of[$1]}" ;;
  esac
  cat "$scratch/goals"
}

# Prints the verdict, and keeps it.
judge() { # STEP STATUS
  local number=${1%%_*}
  if tests_passed "$2" "$log"; then
    if [ -n "${PART:-}" ] && [ -n "${QUICK:-}" ]; then
      echo "check: part $PART of $file passes the quick tests, with the lab's other parts: make step$number check PART=$PART runs all, and measures the goals"
    elif [ -n "${HUNT:-}" ]; then
      echo "check: $file passes"
    elif [ -n "${QUICK:-}" ]; then # tests that were left out are not known to pass
      note_check "$1" quick "$device" "${hash_of[$1]}"
      echo "check: $file passes the quick tests: make step$number check runs all"
    else
      meet_goals "$1" || return
    fi
    # A part without which the result is right, such as a shape of the grid, may pass before it is written.
    if [ -n "$left" ]; then echo "$left"; fi
    return
  fi
  if [ -z "${PART:-}" ]; then note_check "$1" failed "$device" "${hash_of[$1]}"; fi
  if grep -q 'Launch timed out\|the launch timed out' "$log"; then
    report_of_limit | unspoiled
    echo "the tests were stopped there: a loop that does not end, or LAB_LIMIT=60 for a slow kernel"
  elif [ "$2" -ne 0 ] && grep -q 'Synthesis:' "$log"; then
    find_first_failure "$1"
    unspoiled "$scratch/first"
    if [ -z "$left" ] && sanitizer_helps "$scratch/first"; then
      sanitizer "$number"
    fi
  else
    tail -n 20 "$log"
  fi
  if [ -n "$left" ]; then echo "$left"; fi
  say_marks_left "$file" "${PART:-}"
  if [ -z "$left${PART:-}${HUNT:-}" ] && [ "$(parts_in_all "$file")" -gt 1 ] 2>/dev/null; then
    echo "make step$number check PART=1 tests part 1 between the lab's other parts, and so for each part"
  fi
  echo "check: ${PART:+part $PART of }$file fails"
  return 1
}

failed=0
refused=0
built=0
declare -A hash_of # a step's file as it is built, which may be changed while it is tested
for step in "${steps[@]}"; do hash_of[$step]=$(file_hash "$(work_file "$step")"); done
: >"$scratch/built"
if [ $# -gt 0 ]; then build "$@" || built=$?; fi
for step in "${steps[@]}"; do
  file=$(work_file "$step")
  if [ $built -ne 0 ]; then
    if say_diagnostics "$scratch/built" "$file" "check: $file does not compile:"; then
      say_marks_left "$file" "${PART:-}"
      if [ -z "${PART:-}" ]; then note_check "$step" failed "$device" "${hash_of[$step]}"; fi
      failed=1
    fi
    continue
  fi
  left=$(if [ -n "${PART:-}" ]; then say_part_left "$file" "$PART"; else say_parts_left "$file"; fi)
  if [ -n "${LAB_CONFIG:-}" ] && ! has_configuration "$step"; then
    refused=1
    continue
  fi
  status=0
  run_tests "$step" || status=$?
  judged=0
  judge "$step" $status || judged=1
  say_diagnostics "$scratch/built" "$file" "the compiler warns:" || true
  if [ "${hash_of[$step]}" != "$(file_hash "$file")" ]; then
    echo "check: $file has been changed since it was built: this is said of the file before. Check it again"
  fi
  if [ $judged -eq 0 ]; then
    if [ -z "${QUICK:-}${HUNT:-}" ]; then echo "then: $(sanitizer "${step%%_*}")"; fi
    if [ -z "${PART:-}${QUICK:-}${HUNT:-}" ] && [[ $(verdict "$step") == passed* ]]; then scripts/workshop/next.sh "$step"; fi
  else
    failed=1
  fi
done
if [ $built -ne 0 ] && [ $failed -eq 0 ]; then # nothing of the participants' files
  tail -n 20 "$scratch/built"
  failed=1
fi
[ $refused -eq 0 ] || exit 2
exit $failed
