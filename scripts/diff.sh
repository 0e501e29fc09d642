#!/bin/bash -p
# Shows what changes between two steps: scripts/diff.sh 02 04 With an empty first number it compares the second step
# with its parent. This is the step that its first comment names as `// After: NN_name`, else the step before.
#
# Counts the lines of code that each step changes: scripts/diff.sh --stat 03_3dgrid 04_online_softmax ... Counts the
# lines that it takes out of its parent and those that it adds. Comments, blank lines and layout do not count, and a
# line that only moves counts once. Exit status 1 when a step changes more lines than its limit. The limit is 140,
# which a reader can take in as one lesson, and 240 for steps that bring a new way to multiply or to sum.
#
# With VARIANT=NAME it shows what steps/NN_name/variants/NAME.patch changes in its step, or with --stat how many
# lines of code this is, for which there is no limit.
#
# With SUBSTEP=2 it shows what the second of the patches in steps/NN_name/substeps changes. These divide the way from the
# parent to the step (scripts/substep.sh). --stat of a single step counts the lines of each of them, too.
#
# With --between A B the same for the two steps of these numbers, which has no limit: scripts/diff.sh --between 02 04
#
# A step may take lines of an earlier one from a header of common/kernel, whose first comment then names that step as
# `// From: NN_name`. If one of the two steps takes such a header and the other one does not, the header's text is
# compared as if it stood in the step. So lines that only moved to a header do not show, and do not count.
#
# STEPS_FOLDER is the folder of the steps. The lines that mark the beginning and the end of an exercise are left
# out, because they are not part of the lesson. Where only the layout of a line changes, the new line is shown.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
make_scratch
# shellcheck source=scripts/parent.sh
. "${BASH_SOURCE[0]%/*}/parent.sh"
# shellcheck source=scripts/planted_bug.sh
. "${BASH_SOURCE[0]%/*}/planted_bug.sh"
# shellcheck source=scripts/variant.sh
. "${BASH_SOURCE[0]%/*}/variant.sh"
# shellcheck source=scripts/substep.sh
. "${BASH_SOURCE[0]%/*}/substep.sh"
# shellcheck source=scripts/changed.sh
. "${BASH_SOURCE[0]%/*}/changed.sh"
steps=${STEPS_FOLDER:-steps}
variant=${VARIANT:-}
substep=${SUBSTEP:-}

step() { # the folder of a step's number
  local found=("$steps/$1"_*/attention.cu)
  if [ ! -f "${found[0]}" ]; then
    echo "error: there is no step $1 to compare: give A and B, such as make diff A=02 B=04" >&2
    exit 2
  fi
  basename "${found[0]%/attention.cu}"
}

which_steps() {
  echo "error: which steps? make step03 diff compares step 03 with the one before, and make diff A=02 B=04 any two" >&2
  exit 2
}

limit() { # the most lines that a step may change; step 02 is a new file
  case $1 in
  02_*) echo - ;;
  *_online_softmax | *_wmma | *_mma_registers | *wgmma) echo 240 ;;
  *) echo 140 ;;
  esac
}

need_patch() { # WHAT needs the program patch
  if ! command -v patch >/dev/null; then
    echo "error: $1 need the program patch: run make deps, or install the package patch" >&2
    exit 2
  fi
}

variant_source() { # of a step: makes the changed copy, and prints where it lies
  local patch
  need_patch variants
  patch=$(variant_patch "$1" "$variant") || return
  if ! bug_apply "$patch" "$scratch/variant" >"$scratch/log" 2>&1; then
    cat "$scratch/log" >&2
    return 2
  fi
  echo "$scratch/variant/steps/$1/attention.cu"
}

if [ "${1-}" = --stat ] && [ -n "$variant" ]; then
  table=$'step\tvariant\tchanged'
  for name in "${@:2}"; do
    source=$(variant_source "$name") || exit
    table+=$'\n'"$name"$'\t'"$variant"$'\t'"$(changed "$steps/$name/attention.cu" "$source")"
  done
  awk -f scripts/align.awk <<<"$table"
  exit
fi
# substep_rows STEP: a row of the table for each of its substeps.
substep_rows() {
  local patches patch before=$scratch/before.cu after=$scratch/after.cu
  mapfile -t patches < <(substeps_of "$1")
  if [ ${#patches[@]} -eq 0 ]; then return; fi
  need_patch substeps
  substep_source "$1" 0 "$after" || exit
  for patch in "${patches[@]}"; do
    cp "$after" "$before" && substep_apply "$patch" "$after" || exit
    printf '  %s\t\t%s\t-\n' "$(basename "$patch" .patch)" "$(changed_lines "$before" "$after")"
  done
}

if [ "${1-}" = --stat ] && [ -n "$substep" ]; then
  echo "error: STAT=1 counts the lines of all substeps of a step: leave SUBSTEP out" >&2
  exit 2
fi
if [ "${1-}" = --between ]; then
  if [ -z "$2" ] || [ -z "$3" ]; then which_steps; fi
  a=$(step "$2") && b=$(step "$3") || exit
  awk -f scripts/align.awk <<<$'step\tagainst\tchanged\n'"$b"$'\t'"$a"$'\t'"$(changed_lines "$steps/$a/attention.cu" "$steps/$b/attention.cu")"
  exit
fi

if [ "${1-}" = --stat ]; then
  shift
  table=$'step\tafter\tchanged\tlimit'
  over=''
  for name in "$@"; do
    before=$(parent "$name") || exit
    if [ -z "$before" ]; then continue; fi
    lines=$(changed_lines "$steps/$before/attention.cu" "$steps/$name/attention.cu")
    most=$(limit "$name")
    table+=$'\n'"$name"$'\t'"$before"$'\t'"$lines"$'\t'"$most"
    if [ $# -eq 1 ]; then
      rows=$(substep_rows "$name") || exit
      table+=${rows:+$'\n'$rows}
    fi
    if [ "$most" != - ] && [ "$lines" -gt "$most" ]; then
      over+=$'\n'"FAIL  $name changes $lines lines of code of $before: the limit is $most"
    fi
  done
  awk -f scripts/align.awk <<<"$table"
  if [ -n "$over" ]; then echo "${over:1}"; fi
  [ -z "$over" ]
  exit
fi

[ -n "${2-}" ] || which_steps
b=$(step "$2") || exit
if [ -n "$variant" ]; then
  a=$b
elif [ -n "$1" ]; then
  a=$(step "$1") || exit
else
  a=$(parent "$b") || exit
fi
if [ -z "$a" ]; then
  echo "error: $b comes after no step: give A and B, such as make diff A=02 B=04" >&2
  exit 2
fi
before=$steps/$a/attention.cu # the first source, and how the diff names it
shown_before=steps/$a/attention.cu
source=$steps/$b/attention.cu # the second one
shown=steps/$b/attention.cu
head='' # a patch whose head stands above the diff
if [ -n "$variant" ]; then
  head=$(variant_patch "$b" "$variant") && source=$(variant_source "$b") || exit
  shown=$variant/attention.cu
elif [ -n "$substep" ]; then
  need_patch substeps
  head=$(substep_patch "$b" "$substep") || exit
  before=$scratch/before/attention.cu source=$scratch/after/attention.cu
  substep_source "$b" "$((substep - 1))" "$before" && substep_source "$b" "$substep" "$source" || exit
  if [ "$substep" -gt 1 ]; then shown_before=$(basename "$(substep_patch "$b" "$((substep - 1))")" .patch)/attention.cu; fi
  if substep_patch "$b" "$((substep + 1))" 2>/dev/null >&2; then shown=$(basename "$head" .patch)/attention.cu; fi
  # The first substep puts the top comment of the finished step in place of the parent's, and it tells all ideas at once.
  if [ "$substep" = 1 ]; then
    awk '!/^\/\// { if (FNR == NR) nextfile; body = 1 } FNR == NR || body' "$source" "$before" >"$scratch/same_comment"
    before=$scratch/same_comment
  fi
fi
without_marks() { # source, file to write
  mkdir -p "${2%/*}"
  awk -v mode=solution -f scripts/workshop/exercise.awk "$1" >"$2" || exit
}
without_marks "$before" "$scratch/a/$a"
without_marks "$source" "$scratch/b/$b"
mkdir -p "$scratch/${shown_before%/*}" "$scratch/${shown%/*}"
headers_a=$(taken_more "$scratch/b/$b" "$scratch/a/$a")
headers_b=$(taken_more "$scratch/a/$a" "$scratch/b/$b")
with_headers "$scratch/b/$b" "$scratch/a/$a" "$headers_a" >"$scratch/$shown_before" &&
  with_headers "$scratch/a/$a" "$scratch/b/$b" "$headers_b" >"$scratch/$shown" || exit
if [ -n "$head" ]; then awk '/^--- / { exit } { print }' "$head"; fi
if [ "$substep" = 1 ]; then echo "The top comment is not shown: it is that of the finished step already."; fi
say_taken() { # STEP HEADERS
  local header
  for header in $2; do
    echo "$1 takes lines of $(sed -n 's|^// From: ||p' "$header") from $header. They are shown as if they stood in the step."
  done
}
say_taken "$a" "$headers_a"
say_taken "$b" "$headers_b"
cd "$scratch" || exit
if command -v git >/dev/null; then
  # Where git is told to end lines in CRLF, it would warn of both files, which are only compared. A reader's settings of git
  # may show them in another program, or without the lines around a change, which the lab's pages speak of.
  unset GIT_DIFF_OPTS
  git -c core.autocrlf=false diff --no-index --no-ext-diff --no-textconv --src-prefix=a/ --dst-prefix=b/ --unified=3 \
    --inter-hunk-context=0 --diff-algorithm=default --indent-heuristic --ignore-all-space --color=auto --stat --patch \
    "$shown_before" "$shown"
else
  diff -u -w "$shown_before" "$shown"
fi
[ $? -le 1 ] # 1 says that they differ, which is no failure
