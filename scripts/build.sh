#!/usr/bin/env bash
# Runs a command that builds: scripts/build.sh make -f make/build.mk FILES
# On a terminal it removes the line on which make/build.mk shows what is being made.
export LC_ALL=C
set -u
"$@"
status=$?
[ -t 2 ] && printf '\033[K' >&2
exit $status
