#!/bin/bash -p
# Runs commands beside each other: scripts/side_by_side.sh "COMMAND" "COMMAND"...
# Prints the output of the first one at once, and the output of each of the others when those before it have ended.
# Exit status: that of the first in the list that failed, else 0.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
make_scratch
numbers=() # of processes
for ((i = 2; i <= $#; i++)); do
  bash -pc "${!i}" >"$scratch/$i" 2>&1 &
  numbers[i]=$!
done
status=0
bash -pc "${1:?error: side_by_side.sh was given no command}" || status=$?
for ((i = 2; i <= $#; i++)); do
  wait "${numbers[i]}"
  ended=$?
  cat "$scratch/$i"
  if [ "$status" -eq 0 ]; then status=$ended; fi
done
exit "$status"
