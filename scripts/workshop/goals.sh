#!/bin/bash -p
# Says which goals of a step a file meets: scripts/workshop/goals.sh STEP STEPS_FOLDER
# steps/STEP/goals.txt has one goal a line: a tool with its options, a measure with a comparison and a number, and a
# sentence, with | between. All are measured on the emulator. The tools and their measures:
#   run     workspace, in bytes; the line "counts" of the step's program, with _ for blanks: launches, blocks, threads,
#           block_barriers, ..., and the grid of the last launch, grid_x, grid_y, grid_z; the problem is 1x2x256x64
#           unless the options say otherwise. Settings of the emulator stand before the options: EMU_MULTIPROCESSORS=1
#   count   the columns of build/count/step04.csv, of its first row, such as shared_load_wavefronts; two may be divided
#   budget  shared_memory, in bytes, of the first configuration, for head_dim 64
# Exit status 1 when a goal is not met, 2 when one makes no sense. Nothing is said of a step without goals.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
step=$1
folder=$2
number=${step%%_*}
goals=steps/$step/goals.txt
if [ ! -f "$goals" ]; then exit; fi

# The build of the tests shows the compiler's warnings.
build_quietly() { # like bug_build
  bug_build "$@" 2>"$scratch/built" || { cat "$scratch/built" >&2 && return 1; }
}

# Each prints measures and their values, with a blank between.
measured_by_run() { # [EMU_NAME=VALUE...] OPTION...
  local program settings=()
  program=$(build_quietly cpu '' "$folder" "step$number") || return
  while [[ ${1:-} == EMU_*=* ]]; do settings+=("$1") && shift; done
  if [ $# -eq 0 ]; then set -- --batch 1 --heads 2 --seq 256 --dim 64; fi
  env "${settings[@]}" "$program" "$@" --no-check --no-time >"$scratch/said" </dev/null || return
  awk '
    BEGIN { # not printed where there are none
      print "early_launches 0\ntensor-core_products 0\nbytes_by_cp.async 0\nproducts_over_copies 0\nproducts_in_the_first_half_of_the_blocks 0\nwarp_collectives_under_products 0\nnamed_barriers 0\ngroups_of_products_in_turns 0\nrepeated_arrivals 0\ncopies_behind_kernels 0"
    }
    $1 == "workspace" { print "workspace", $2 }
    sub(/^counts +/, "") {
      for (i = split($0, item, /, /); i > 0; i--) {
        name = item[i]
        if (split(name, word, " ") && word[1] == "grid") {
          print "grid_x", word[2] "\ngrid_y", word[4] "\ngrid_z", word[6]
          continue
        }
        sub(/^[0-9]+ /, "", name)
        if (word[1] == 1) sub(/launch/, "launches", name) || sub(/$/, "s", name)
        gsub(/ /, "_", name)
        print name, word[1]
      }
    }' "$scratch/said"
}

measured_by_count() { # OPTION...
  local object
  object=$(build_quietly cpu count "$folder" "step$number.so") && build_quietly cpu count steps count >/dev/null || return
  build/cpu-count/count "$scratch" "$object" -- "$@" >/dev/null </dev/null || return
  awk -F , 'NR == 1 { split($0, name, ",") } NR == 2 { for (i = 1; i <= NF; i++) if ($i != "") print name[i], $i }' \
    "$scratch/step$number.csv"
}

measured_by_budget() {
  local object
  object=$(build_quietly cpu '' "$folder" "step$number.so") && build_quietly cpu '' steps budget >/dev/null || return
  build/cpu/budget "$object" </dev/null | awk '$2 == 64 { print "shared_memory", $3; exit }'
}

met=0
in_all=0
while IFS='|' read -r tool goal sentence; do
  if [[ $tool == '#'* ]] || [ -z "$tool" ]; then continue; fi
  in_all=$((in_all + 1))
  read -ra words <<<"$tool"
  known=$scratch/${tool//[^a-z0-9]/_}
  if [ ! -f "$known" ]; then
    case ${words[0]} in
    run | count | budget) "measured_by_${words[0]}" "${words[@]:1}" >"$known" || exit 2 ;;
    *)
      echo "error: $goals: \"${words[0]}\" is no tool: give run, count or budget" >&2
      exit 2
      ;;
    esac
  fi
  status=0
  awk -v goal="$goal" -v sentence="${sentence# }" '
    { value[$1] = $2 }
    END {
      count = split(goal, word, " ")
      limit = word[count]
      comparison = word[count - 1]
      if (!(word[1] in value) || (count == 5 && !(word[3] in value))) exit 2
      got = value[word[1]] + 0
      if (count == 5) got = value[word[3]] > 0 ? got / value[word[3]] : 0
      if (count != 3 && (count != 5 || word[2] != "/") || comparison !~ /^(=|<=|>=)$/) exit 2
      good = comparison == "=" ? got == limit : comparison == "<=" ? got <= limit + 1e-9 : got >= limit
      printf "  %-7s  %s: %s is %.10g%s\n", good ? "met" : "not met", sentence, word[1] (count == 5 ? " / " word[3] : ""),
        got, good ? "" : ", and should be " (comparison == "=" ? "" : comparison == "<=" ? "at most " : "at least ") limit
      exit !good
    }' "$known" || status=$?
  if [ $status -eq 2 ]; then
    echo "error: $goals: \"$goal\" is no goal of ${words[0]}: give a measure of its, a comparison and a number, such as \"launches = 1\"" >&2
    exit 2
  fi
  if [ $status -eq 0 ]; then met=$((met + 1)); fi
done <"$goals"
[ $met -eq $in_all ]
