#!/usr/bin/env bash
# Runs a program of the lab and demands that it comes to its end: scripts/run.sh PROGRAM [ARGUMENT...]
# Exit status: that of the program; 1 when it ends with 0 before it has finished.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
# shellcheck source=scripts/finished.sh
. "${BASH_SOURCE[0]%/*}/finished.sh"
make_scratch
finishes "$@"
