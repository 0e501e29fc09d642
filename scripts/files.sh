#!/usr/bin/env bash
# The files of the lab whose names fit: scripts/files.sh '*.c' '*.h'
# As git tells them; where there is no git or no checkout, all but what the lab makes by itself.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
git ls-files --cached --others --exclude-standard "$@" 2>/dev/null && exit
names=()
for name in "$@"; do names+=(-o -name "$name"); done
find . \( -path ./.git -o -path ./.deps -o -path ./build -o -path ./work -o -path ./results \) -prune \
  -o -type f \( "${names[@]:1}" \) -printf '%P\n' | sort
