#!/bin/bash -p
# Runs the sanitizer, and keeps what it says of a participant's file for `make progress`:
# scripts/workshop/sanitized.sh STEP COMMAND... The exit status is that of COMMAND; 0 is a clean file and 1 one with faults.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
step=$1
shift
status=0
hash=$(file_hash "$(work_file "$step")" 2>/dev/null) # before it is built
"$@" || status=$?
# With PART or ARGS it has seen a part of the file, or one problem alone.
if [ -n "${WORK:-}" ] && [ -z "${PART:-}${ARGS:-}" ] && [ -f "$(work_file "$step")" ]; then
  case $status in
  0) note_sanitized "$step" clean "$hash" ;;
  1) note_sanitized "$step" faults "$hash" ;;
  esac
fi
exit "$status"
