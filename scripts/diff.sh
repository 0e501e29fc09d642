#!/usr/bin/env bash
# What changes between two steps: scripts/diff.sh 02 04
# With an empty first number, between the second step and its parent: the step that its first comment names as
# `// After: NN_name`, else the step before.
#
# How many lines of code each step changes: scripts/diff.sh --stat 03_3dgrid 04_online_softmax ...
# Counts the lines that it takes out of its parent and those that it adds. Comments, blank lines and layout do
# not count, and a line that only moves counts once. Exit status 1 when a step changes more lines than its limit:
# a reader can take in 140 as one lesson, and the steps that bring a new way to multiply or to sum have 240.
#
# STEPS_FOLDER is the folder of the steps. Where an exercise begins and ends is no part of the lesson: those
# lines are left out.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
make_scratch
steps=${STEPS_FOLDER:-steps}

step() { # the folder of a step's number
  local found=("$steps/$1"_*/attention.cu)
  if [ ! -f "${found[0]}" ]; then
    echo "error: there is no step $1 to compare: give A and B, such as make diff A=02 B=04" >&2
    exit 2
  fi
  basename "${found[0]%/attention.cu}"
}

parent() { # the folder of the step that another one comes after; nothing for the first
  local named before='' folder
  named=$(sed -n '/^[^/]/q; s|^// After: *\([^ ]*\).*|\1|p' "$steps/$1/attention.cu")
  if [ -n "$named" ]; then
    if [ ! -f "$steps/$named/attention.cu" ]; then
      echo "error: $steps/$1/attention.cu says that it comes after $named, and there is no such step" >&2
      exit 2
    fi
    echo "$named"
    return
  fi
  for folder in "$steps"/[0-9]*/; do # in order of their numbers
    folder=$(basename "$folder")
    if [ "$folder" = "$1" ]; then break; fi
    before=$folder
  done
  echo "$before"
}

limit() { # the most lines that a step may change; the first one with a parent is a new file
  case $1 in
  02_*) echo - ;;
  *_online_softmax | *_wmma | *_mma_registers | *wgmma) echo 240 ;;
  *) echo 140 ;;
  esac
}

changed() { # how many lines of code step B changes in step A
  diff <(awk -f scripts/code.awk "$steps/$1/attention.cu") <(awk -f scripts/code.awk "$steps/$2/attention.cu") | awk '
    /^</ { gone[substr($0, 3)]++; lines++ }
    /^>/ { come[substr($0, 3)]++; lines++ }
    END {
      for (line in gone) lines -= gone[line] < come[line] ? gone[line] : come[line]
      print lines + 0
    }'
}

if [ "${1-}" = --stat ]; then
  shift
  table=$'step\tafter\tchanged\tlimit'
  over=''
  for name in "$@"; do
    before=$(parent "$name") || exit
    if [ -z "$before" ]; then continue; fi
    lines=$(changed "$before" "$name")
    most=$(limit "$name")
    table+=$'\n'"$name"$'\t'"$before"$'\t'"$lines"$'\t'"$most"
    if [ "$most" != - ] && [ "$lines" -gt "$most" ]; then
      over+=$'\n'"FAIL  $name changes $lines lines of code of $before: the limit is $most"
    fi
  done
  awk -f scripts/align.awk <<<"$table"
  if [ -n "$over" ]; then echo "${over:1}"; fi
  [ -z "$over" ]
  exit
fi

b=$(step "$2") || exit
if [ -n "$1" ]; then a=$(step "$1") || exit; else a=$(parent "$b") || exit; fi
if [ -z "$a" ]; then
  echo "error: $b comes after no step: give A and B, such as make diff A=02 B=04" >&2
  exit 2
fi
for source in "$a" "$b"; do
  mkdir -p "$scratch/steps/$source"
  awk -v mode=solution -f scripts/workshop/exercise.awk "$steps/$source/attention.cu" \
    >"$scratch/steps/$source/attention.cu" || exit
done
cd "$scratch" || exit
if command -v git >/dev/null; then
  git diff --no-index --color=auto --stat --patch "steps/$a/attention.cu" "steps/$b/attention.cu"
else
  diff -u "steps/$a/attention.cu" "steps/$b/attention.cu"
fi
[ $? -le 1 ] # 1 says that they differ, which is no failure
