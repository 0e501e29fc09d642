#!/usr/bin/env bash
# Runs Criterion test programs: scripts/check.sh PROGRAM...
# A line for each, in their order; the whole output of those that fail. Exit status 1 when any fails.
# AT_ONCE programs run at a time (1), with the cores divided among them, but those in timing/ by themselves:
# they measure.
export LC_ALL=C
set -u
# shellcheck source=scripts/in_order.sh
. "${BASH_SOURCE[0]%/*}/in_order.sh"
if [ $# -eq 0 ]; then
  echo "error: check was given no test program to run" >&2
  exit 2
fi
at_once=${AT_ONCE:-1}
if ! [[ $at_once =~ ^[1-9][0-9]*$ ]]; then
  echo "error: AT_ONCE is \"$at_once\": give the number of programs to run at a time, from 1 on" >&2
  exit 2
fi
workers=2 # tests of one program at a time, each a process
if [ "$at_once" -gt 1 ]; then
  threads=$(($(nproc) / at_once / workers))
  export OMP_NUM_THREADS=$((threads > 0 ? threads : 1)) OMP_WAIT_POLICY=passive
fi
programs=("$@")
failed=()
started=$SECONDS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Leaves the output in $scratch/NUMBER.log, exit status and seconds in $scratch/NUMBER.end.
run_program() { # number
  local before=$SECONDS
  echo "$before" >"$scratch/$1.begin"
  "${programs[$1]}" --jobs $workers >"$scratch/$1.log" 2>&1
  echo "$? $((SECONDS - before))" >"$scratch/$1.end"
}

show_program() { # number
  [ -t 1 ] || return 0
  local begin=$SECONDS
  if [ -s "$scratch/$1.begin" ]; then read -r begin <"$scratch/$1.begin"; fi
  printf '\r  ....  %s, %d s\033[K' "${programs[$1]#build/*/}" $((SECONDS - begin))
}

report_program() { # number
  local name=${programs[$1]#build/*/} log=$scratch/$1.log status seconds tested
  read -r status seconds <"$scratch/$1.end"
  [ -t 1 ] && printf '\r\033[K'
  tested=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | sed -n 's/.*Tested: *\([0-9]*\).*/\1/p' | tail -n 1)
  if [ "$status" -eq 0 ] && [ "${tested:-0}" -gt 0 ]; then
    printf '  ok    %-36s %3d tests, %d s\n' "$name" "$tested" "$seconds"
  else
    failed+=("$name")
    printf '  FAIL  %s\n' "$name"
    [ "${tested:-0}" -gt 0 ] || echo "        it ran no test"
    sed 's/^/        /' "$log"
  fi
}

measures() { # number
  [[ ${programs[$1]} == */timing/* ]]
}

in_order $# "$at_once" run_program show_program report_program measures

if [ "${#failed[@]}" -gt 0 ]; then
  echo "check: ${#failed[@]} of $# test programs failed: ${failed[*]}"
  exit 1
fi
echo "check: all $# test programs pass ($((SECONDS - started)) s)"
