#!/bin/bash -p
# Says what to do next: scripts/workshop/next.sh [STEP] Behind STEP, which has just passed, it is the next exercise
# that does not pass yet. Without STEP it is the exercise that is begun and does not pass, or else the first one behind the last that passes.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/parent.sh
. scripts/parent.sh
steps=steps # for parent
after=${1:-}

say() { echo "next: $*" && exit; }

begun=''
unseen='' # passes check, and the sanitizer has not found it clean
fresh=''
for folder in steps/[0-9]*_*/; do
  step=$(basename "$folder")
  number=${step%%_*}
  file=$(work_file "$step")
  if ! grep -q '// exercise: ' "$folder/attention.cu"; then continue; fi
  if [ -f "$file" ] && [[ $(verdict "$step") == passed* ]]; then
    if [ -z "$after" ]; then fresh=; fi # go on behind the last one that passes
    if [ -z "$after" ] && [ "$(sanitized "$step")" != clean ]; then unseen=${unseen:-$step}; fi
    continue
  fi
  if [ -n "$after" ] && ! [[ $number > ${after%%_*} ]]; then continue; fi
  if [ -f "$file" ]; then begun=${begun:-$step}; else fresh=${fresh:-$step}; fi
  if [ -n "$after" ]; then break; fi
done
if [ -n "$begun" ]; then
  number=${begun%%_*}
  part=$(parts_left "$(work_file "$begun")" | head -n 1 | awk -F '\t' '{ print $1 ": " $4 }')
  if [ -n "$part" ]; then
    say "part $part, in $(work_file "$begun"); then make step$number check PART=${part%%:*}"
  elif [[ $(verdict "$begun") == quick* ]]; then
    say "make step$number check, without QUICK, runs all tests and measures the goals"
  fi
  say "make step$number check"
elif [ -n "$unseen" ]; then
  say "make step${unseen%%_*} sanitize, which finds faults that change no result"
elif [ -n "$fresh" ]; then
  before=$(cd steps && printf '%s\n' [0-9]*_*/ | awk -v step="$fresh/" '$0 == step { print before } { before = $0 }')
  origin=$(parent "$fresh")
  from=''
  if [ -n "$origin" ] && [ "$origin/" != "$before" ]; then from=", which goes on from step ${origin%%_*}"; fi
  say "read steps/$fresh/README.md$from, then make step${fresh%%_*} exercise"
fi
say "make hunt lists bugs to find; make new STEP=30_name begins a step of your own"
