#!/bin/bash -p
# Looks for races, wild accesses and their like in steps, on the emulator:
#   scripts/sanitize.sh FOLDER 04_online_softmax 05_wmma ...
# FOLDER holds the sanitizing programs step04, step05, ... Runs each on the shapes of
# scripts/sanitize_shapes.txt, or on ARGS alone, with SEEDS orders of threads (5), the plain one first. A
# step is left at its first fault, after the report. With EVERY=1 runs only on the shapes that every step runs
# on, with ONE_DIM=1 only on those for a build with LAB_ONE_DIM (common/kernel/kernel.cuh), and with CHECKED=1 a wrong
# result is a fault, too. Shapes that a step cannot take for the same reason share a line, and with VERBOSE=1 have one
# each. Exit status 1 when there is any fault, 2 when a step can take none of the shapes.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/finished.sh
. scripts/finished.sh
make_scratch
folder=$1
shift
seeds=${SEEDS:-5}
if ! [[ $seeds =~ ^[1-9][0-9]*$ ]]; then
  echo "error: SEEDS is \"$seeds\": give a number from 1 on" >&2
  exit 2
fi
# shellcheck source=scripts/sanitize_options.sh
. scripts/sanitize_options.sh
log=$scratch/log
check_option=--no-check
if [ -n "${CHECKED:-}" ]; then check_option=; fi
skipped=$scratch/skipped # a line for each shape that the step at hand cannot take: its options, and what the program says
: >"$skipped"
kernels=$scratch/kernels # those that the programs were compiled to, and those that were launched

# Prints a shape's line, and its report. Status 1 when there is a fault in it. Counts those that ran.
run_shape() { # STEP OPTIONS
  local program=$folder/step${1%%_*} seed status reason before=$SECONDS words
  split_words "$2"
  for ((seed = 0; seed < seeds; seed++)); do
    [ -t 1 ] && printf '\r  ....  %s %s, seed %d\033[K' "${1%%_*}" "$2" "$seed"
    EMU_KERNELS=$kernels finishes "$program" "${words[@]}" $check_option --csv --emu-seed "$seed" >/dev/null 2>"$log"
    status=$?
    [ -t 1 ] && printf '\r\033[K'
    if [ "$status" -eq 2 ] && reason=$(grep -m 1 'cannot take' "$log"); then
      printf '%s\t%s\n' "$2" "$reason" >>"$skipped"
      return
    elif [ "$status" -eq 2 ] && [ -n "${ARGS:-}" ]; then # the options make no sense: the kernels did not run
      cat "$log" >&2
      exit 2
    elif [ "$status" -ne 0 ]; then
      say_skipped "$1"
      printf '  FAIL  %s %s, seed %d\n' "${1%%_*}" "$2" "$seed"
      awk -v part="${PART:-}" -f scripts/workshop/unspoiled.awk "$log"
      return 1
    fi
  done
  ran=$((ran + 1))
  printf '  ok    %s %s (%d s)\n' "${1%%_*}" "$2" $((SECONDS - before))
}

# Prints which shapes the step cannot take, and why: a line for each reason.
say_skipped() { # STEP
  awk -F '\t' -v number="${1%%_*}" -v each="${VERBOSE:-}" '
    {
      sub(/^error: /, "", $2)
      reason = each ? NR : $2
      if (!each && !sub(/.* cannot take [^:]*: */, "", reason)) reason = $2
      if (!shapes[reason]++) order[++reasons] = reason
      line[reason] = $1 ": " $2
    }
    END {
      for (i = 1; i <= reasons; i++) {
        reason = order[i]
        if (shapes[reason] == 1) printf "  skip  %s %s\n", number, line[reason]
        else printf "  skip  %s, %d shapes: %s (VERBOSE=1 lists them)\n", number, shapes[reason], reason
      }
    }' "$skipped"
  : >"$skipped"
}

# The kernels that none of the step's shapes has launched, a line each.
unlaunched() {
  awk '$1 == "launched" { launched[$2] } { seen[$2] } END { for (k in seen) if (!(k in launched)) print k }' "$kernels" |
    c++filt | awk -f scripts/readable_names.awk | sort
}

if [[ " ${ARGS:-} " == *' --help '* ]]; then
  echo "error: ARGS holds --help, with which no kernel runs: make step04 run ARGS=--help lists the options" >&2
  exit 2
fi
failed=()
started=$SECONDS
for step in "$@"; do
  list=$(sanitize_options "$step")
  if [ -z "$list" ]; then
    echo "error: $shapes has no shape for $step" >&2
    exit 2
  fi
  ran=0
  : >"$kernels"
  while read -r options; do
    run_shape "$step" "$options" </dev/null || { failed+=("$step") && ran=1 && break; }
  done <<<"$list"
  say_skipped "$step"
  if [ "$ran" -eq 0 ]; then
    echo "error: $step can take none of these shapes, so nothing is known of it" >&2
    exit 2
  fi
  # With ARGS, or the few shapes of EVERY=1, not all kernels need be reached; a step with a fault was left early.
  if [ -z "${ARGS:-}${EVERY:-}" ] && [ "${failed[*]: -1}" != "$step" ] && [ -n "$(unlaunched)" ]; then
    echo "  FAIL  ${step%%_*} has kernels that no shape of $shapes reaches: add one for each of"
    unlaunched | sed 's/^/        /'
    failed+=("$step")
  fi
done

if [ "${#failed[@]}" -gt 0 ]; then
  echo "sanitize: faults in ${failed[*]}"
  exit 1
fi
orders='orders of threads'
if [ "$seeds" -eq 1 ]; then orders='order of threads'; fi
echo "sanitize: no fault in $* ($seeds $orders, $((SECONDS - started)) s)"
