#!/bin/bash -p
# Checks a participant's file whenever it is saved: scripts/workshop/watch.sh STEP
# First the quick tests, up to the first failure; when those pass, all. PART=2 checks that part between the
# lab's other parts. ROUNDS ends it after so many checks, with the exit status of the last; else it goes on until it is
# interrupted.
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
need_lab_step "$step"
need_file "$step"
file=$(work_file "$step")
log=$scratch/log
if ! [[ ${ROUNDS:-1} =~ ^[1-9][0-9]*$ ]]; then
  echo "error: ROUNDS is \"$ROUNDS\": give the number of checks after which watch ends, such as ROUNDS=1" >&2
  exit 2
fi
if [ -n "${PART:-}" ]; then need_part "$step" "$PART"; fi

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

# Tells the verdict, the ticker of a terminal with it. What make itself says of a verdict is left out.
check() { # [QUICK=1]
  local status=0
  make --no-print-directory "step${step%%_*}" check-work WORK=1 SAID=1 ${PART:+PART="$PART"} "$@" 2>"$log" || status=$?
  grep -v '^make.* Error [0-9]*$' "$log" || true
  return "$status"
}

round=0
while true; do
  hash=$(file_hash "$file")
  [ -t 1 ] && printf '\033[H\033[2J'
  echo "== $(date +%T) $file"
  status=0
  check QUICK=1 || status=$?
  if [ "$status" -eq 0 ] && [ -z "${PART:-}" ]; then check || status=$?; fi
  round=$((round + 1))
  if [ -n "${ROUNDS:-}" ] && [ "$round" -ge "$ROUNDS" ]; then exit "$status"; fi
  wait_for_change "$hash"
done
