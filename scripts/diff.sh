#!/usr/bin/env bash
# What changes between two steps: scripts/diff.sh 02 04
# Where an exercise begins and ends is no part of the lesson: those lines are left out.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
make_scratch
file() { # the attention.cu of a step's number
  local found=(steps/"$1"_*/attention.cu)
  if [ ! -f "${found[0]}" ]; then
    echo "error: there is no step $1 to compare: give A and B, such as make diff A=02 B=04" >&2
    exit 2
  fi
  echo "${found[0]}"
}
a=$(file "$1") || exit
b=$(file "$2") || exit
for source in "$a" "$b"; do
  mkdir -p "$scratch/${source%/*}"
  awk -v mode=solution -f scripts/workshop/exercise.awk "$source" >"$scratch/$source" || exit
done
cd "$scratch" || exit
if command -v git >/dev/null; then
  git diff --no-index --color=auto --stat --patch "$a" "$b"
else
  diff -u "$a" "$b"
fi
[ $? -le 1 ] # 1 says that they differ, which is no failure
