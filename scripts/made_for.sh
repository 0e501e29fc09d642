#!/bin/bash -p
# Prints which steps can be made for which GPUs: scripts/made_for.sh [--left-out] "sm_80 sm_90a" STEP... Prints a
# line "STEP ARCHITECTURE" for each pair, and nothing for a step that needs more than a GPU has. With --left-out it
# prints the others, a line of tabs for each step: its name, what it needs, the architectures. The first comment of
# a step may say what it needs: "// Needs: sm_80" means this architecture or any newer one, "// Needs: sm_90a"
# exactly that one, because the instructions behind the letter are in no other. Exit status 2 when a step is not
# there or says it in another way.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
steps=${STEPS_FOLDER:-steps} # as in make/config.mk
left_out=0
if [ "${1-}" = --left-out ]; then
  left_out=1
  shift
fi
if [ $# -lt 2 ]; then
  echo "error: made_for.sh needs architectures and a step: scripts/made_for.sh \"sm_80 sm_90a\" 05_wmma" >&2
  exit 2
fi
architectures=$1
shift
files=()
for step; do
  if ! [ -f "$steps/$step/attention.cu" ]; then
    echo "error: there is no $steps/$step/attention.cu to compile" >&2
    exit 2
  fi
  files+=("$steps/$step/attention.cu")
done
awk -v architectures="$architectures" -v left_out=$left_out '
  function number(architecture) {
    gsub(/[^0-9]/, "", architecture)
    return architecture + 0
  }
  function meets(architecture, needs) {
    if (needs == "" || architecture == needs) return 1
    return needs ~ /[0-9]$/ && number(architecture) >= number(needs)
  }
  FNR == 1 {
    steps[++count] = FILENAME
    commented = 1
  }
  !/^\/\// { commented = 0 }
  commented && /^\/\/ Needs: / {
    needs[FILENAME] = $3
    if ($3 !~ /^sm_[0-9]+[a-z]?$/ || NF > 3) {
      print "error: " FILENAME ":" FNR ": \"" $0 "\" names no architecture: write // Needs: sm_80" >"/dev/stderr"
      wrong = 1
    }
  }
  END {
    if (wrong) exit 2
    known = split(architectures, architecture, " ")
    for (i = 1; i <= count; i++) {
      step = steps[i]
      sub(/\/attention\.cu$/, "", step)
      sub(/.*\//, "", step)
      without = ""
      for (j = 1; j <= known; j++) {
        if (!meets(architecture[j], needs[steps[i]])) without = without (without == "" ? "" : " ") architecture[j]
        else if (!left_out) print step, architecture[j]
      }
      if (!left_out || without == "") continue
      print step "\t" needs[steps[i]] (needs[steps[i]] ~ /[0-9]$/ ? " or newer" : "") "\t" without
    }
  }' "${files[@]}"
