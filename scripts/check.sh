#!/usr/bin/env bash
# Runs Criterion test programs: scripts/check.sh PROGRAM...
# A line for each, in their order; the whole output of those that fail. Exit status 1 when any fails.
# AT_ONCE programs run at a time (1), with the cores divided among them, but those in timing/ by themselves:
# they measure.
set -u
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

# Leaves the output in $scratch/NUMBER.log and, when it is there whole, exit status and seconds in
# $scratch/NUMBER.
run_program() { # number
  local before=$SECONDS status
  "${programs[$1]}" --jobs $workers >"$scratch/$1.log" 2>&1
  status=$?
  echo "$status $((SECONDS - before))" >"$scratch/$1.part"
  mv "$scratch/$1.part" "$scratch/$1"
}

# Prints the lines of the programs that are next, as far as they have ended.
reported=0
report() {
  local name log status seconds tested
  while [ -e "$scratch/$reported" ]; do
    name=${programs[$reported]#build/*/}
    log=$scratch/$reported.log
    read -r status seconds <"$scratch/$reported"
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
    reported=$((reported + 1))
  done
}

# Waits until fewer than so many programs run, and reports those that have ended.
wait_until_below() { # count
  local name
  report
  while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do
    name=${programs[$reported]#build/*/}
    [ -t 1 ] && printf '\r  ....  %s\033[K' "$name"
    wait -n
    report
  done
}

for ((number = 0; number < $#; number++)); do
  case ${programs[$number]} in
  */timing/*) alone=yes ;;
  *) alone=no ;;
  esac
  wait_until_below "$([ $alone = yes ] && echo 1 || echo "$at_once")"
  run_program "$number" &
  [ $alone = no ] || wait_until_below 1
done
wait_until_below 1

if [ "${#failed[@]}" -gt 0 ]; then
  echo "check: ${#failed[@]} of $# test programs failed: ${failed[*]}"
  exit 1
fi
echo "check: all $# test programs pass ($((SECONDS - started)) s)"
