#!/usr/bin/env bash
# Runs Criterion test programs one after the other: scripts/check.sh PROGRAM...
# A line for each, the whole output of those that fail. Exit status 1 when any fails.
set -u
if [ $# -eq 0 ]; then
  echo "error: check was given no test program to run" >&2
  exit 2
fi
failed=()
started=$SECONDS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for program in "$@"; do
  name=${program#build/*/}
  [ -t 1 ] && printf '  ....  %s' "$name"
  before=$SECONDS
  "$program" --jobs 2 >"$log" 2>&1
  status=$?
  [ -t 1 ] && printf '\r\033[K'
  tested=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | sed -n 's/.*Tested: *\([0-9]*\).*/\1/p' | tail -n 1)
  if [ "$status" -eq 0 ] && [ "${tested:-0}" -gt 0 ]; then
    printf '  ok    %-36s %3d tests, %d s\n' "$name" "$tested" $((SECONDS - before))
  else
    failed+=("$name")
    printf '  FAIL  %s\n' "$name"
    [ "${tested:-0}" -gt 0 ] || echo "        it ran no test"
    sed 's/^/        /' "$log"
  fi
done

if [ "${#failed[@]}" -gt 0 ]; then
  echo "check: ${#failed[@]} of $# test programs failed: ${failed[*]}"
  exit 1
fi
echo "check: all $# test programs pass ($((SECONDS - started)) s)"
