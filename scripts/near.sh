#!/bin/bash -p
# Says what was probably meant by a goal that make does not know: scripts/near.sh GOAL VERB... [-- MAKEFILE...]
# VERBs are the goals beside it, but not the step that NAMED names. A verb of the makefiles is a target with a description behind ##. Always ends with 2.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
goal=$1
verb=$2
beside=("${@:2}")
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
[ $# -eq 0 ] || shift

# "step 04 run", and "stpe04 run".
if [[ $goal == step ]]; then
  verb=run number=
  for word in "${beside[@]}"; do
    if [[ $word == -- ]]; then break; fi
    if [[ $word =~ ^[0-9]+$ ]]; then number=$word; else verb=$word; fi
  done
  goal+=" $number"
  number=${number:-04}
elif [[ $goal =~ ^[step]+[-_]?([0-9]+)$ && $goal != step* ]]; then
  number=${BASH_REMATCH[1]}
fi
if [[ -n ${number-} ]]; then
  number=$(printf '%02d' "$((10#$number))")
  if compgen -G "steps/${number}_*/attention.cu" >/dev/null; then
    echo "error: there is no \"${goal% }\": a step is named by its two digits, as in make step$number $verb" >&2
    exit 2
  fi
  goal=step$number
fi
if [[ $goal =~ ^(step)?[-_]?([0-9]+)(_.*)?$ ]]; then
  number=$(printf '%02d' "$((10#${BASH_REMATCH[2]}))")
  if compgen -G "steps/${number}_*/attention.cu" >/dev/null; then
    echo "error: there is no \"$goal\": a step is named by its two digits, as in make step$number $verb" >&2
  else
    echo "error: there is no step \"$goal\": the steps are $(cd steps && echo [0-9]*_* | sed 's/\([0-9]*\)_[^ ]*/step\1/g')" >&2
  fi
  exit 2
fi
sed -n 's/^\([a-z-]*\):.*## .*/\1/p' "$@" | awk -v goal="$goal" -v named="${NAMED:+$NAMED }" '
  # How many letters must be changed, left out, put in or exchanged with their neighbour.
  function distance(a, b,  i, j, cost, d) {
    for (i = 0; i <= length(a); i++) d[i, 0] = i
    for (j = 0; j <= length(b); j++) d[0, j] = j
    for (i = 1; i <= length(a); i++)
      for (j = 1; j <= length(b); j++) {
        cost = substr(a, i, 1) != substr(b, j, 1)
        d[i, j] = d[i - 1, j - 1] + cost
        if (d[i - 1, j] + 1 < d[i, j]) d[i, j] = d[i - 1, j] + 1
        if (d[i, j - 1] + 1 < d[i, j]) d[i, j] = d[i, j - 1] + 1
        if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1) &&
            d[i - 2, j - 2] + 1 < d[i, j]) d[i, j] = d[i - 2, j - 2] + 1
      }
    return d[length(a), length(b)]
  }
  BEGIN {
    split("test check tests check verify check debug gdb debugger gdb profile ncu profiler ncu nsight ncu compile build " \
          "all build install deps setup doctor start exercise todo exercise answer solution answers solution " \
          "status progress times bench benchmark bench assembly sass race sanitize racecheck sanitize lint format " \
          "bug hunt chart plots plot plots table tables", word, " ")
    for (w = 1; w in word; w += 2) means[word[w]] = word[w + 1]
  }
  { near = distance(goal, $1); if (least == "" || near < least) { least = near; best = $1 } }
  END {
    if (goal in means) best = means[goal]
    else if (least > 2 || least >= length(goal) - 1) best = ""
    if (best != "") printf "error: there is no verb \"%s\": do you mean make %s%s? make help lists all\n", goal, named, best
    else printf "error: there is no verb \"%s\": make help lists all\n", goal
  }' >&2
exit 2
