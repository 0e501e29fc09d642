#!/bin/bash -p
# Lists the files of the lab whose names match: scripts/files.sh '*.c' '*.h' The list comes from git. Without git or
# a checkout it has all files except those that the lab makes itself.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
git ls-files --cached --others --exclude-standard "$@" 2>/dev/null && exit
names=()
for name in "$@"; do names+=(-o -name "$name"); done
find . \( -path ./.git -o -path ./.deps -o -path ./build -o -path ./work -o -path ./results \) -prune \
  -o -type f \( "${names[@]:1}" \) -printf '%P\n' | sort
