#!/bin/bash -p
# Runs a program of the lab and demands that it comes to its end: scripts/run.sh PROGRAM [ARGUMENT...]
# Exit status: that of the program; 1 when it ends with 0 before it has finished. With PART=2, a reader's part between the
# lab's other parts, nothing that it prints shows the text of these (scripts/workshop/unspoiled.awk).
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
# shellcheck source=scripts/finished.sh
. "${BASH_SOURCE[0]%/*}/finished.sh"
make_scratch
if [ -z "${PART:-}" ]; then
  finishes "$@"
  exit
fi
set -o pipefail
unspoiled() { awk -v part="$PART" -f "${BASH_SOURCE[0]%/*}/workshop/unspoiled.awk"; }
{ { finishes "$@" | unspoiled; } 2>&1 >&3 | unspoiled >&2; } 3>&1
