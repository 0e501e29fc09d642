#!/bin/bash -p
# Prints the option that has a compiler link with gold, or "none" where gold is missing or does not find the compiler's
# libraries: scripts/linker.sh FILE COMPILER [OPTION...]. Linking a program to try it takes a tenth of a second, so make
# reads the answer from FILE from then on.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
option=-fuse-ld=gold
echo 'int main(int count, char **) { if (count > 1) throw count; }' >"$scratch/throws.cpp"
if ! "${@:2}" "$option" "$scratch/throws.cpp" -o "$scratch/throws" >"$scratch/log" 2>&1 || ! "$scratch/throws"; then
  option=none
fi
mkdir -p "${1%/*}"
echo "$option" | write_whole "$1"
echo "$option"
