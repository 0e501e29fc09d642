#!/usr/bin/env bash
# Checks a participant's file whenever it is saved: scripts/workshop/watch.sh STEP
# Up to the first failure, without the largest tests; when those pass, with them. ROUNDS ends it after so
# many checks, with the exit status of the last; else it goes on until it is interrupted.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
verb=watch
need_step "$@"
step=$1
need_file "$step"
file=$(work_file "$step")
log=$scratch/log

# Returns when the file is no longer as it was. An editor may save by putting another file in its place, and for a
# moment there may be none.
wait_for_change() { # HASH
  local now
  while now=$(file_hash "$file" 2>/dev/null) && { [ -z "$now" ] || [ "$now" = "$1" ]; }; do
    if command -v inotifywait >/dev/null; then
      # 2: nothing for so many seconds. Else it cannot watch, such as when there are too many watches.
      inotifywait -qq -t 2 -e close_write,moved_to,create "${file%/*}" || [ $? -eq 2 ] || sleep 0.5
    else
      sleep 0.5
    fi
  done
}

check() { # [QUICK=1]
  make --no-print-directory "step${step%%_*}" check-work WORK=1 "$@"
}

round=0
while true; do
  hash=$(file_hash "$file")
  [ -t 1 ] && printf '\033[H\033[2J'
  echo "== $(date +%T) $file"
  status=0
  check QUICK=1 >"$log" 2>&1 || status=$?
  # Prints the messages of the compiler, up to its first error, and then the verdict.
  awk '/(error|warning):/ && ++found > 3 { exit } /^make/ { next } { print }' "$log" | head -n 40
  if [ "$status" -eq 0 ]; then
    check >"$log" 2>&1 || status=$?
    tail -n 1 "$log"
  fi
  round=$((round + 1))
  if [ -n "${ROUNDS:-}" ] && [ "$round" -ge "$ROUNDS" ]; then exit "$status"; fi
  wait_for_change "$hash"
done
