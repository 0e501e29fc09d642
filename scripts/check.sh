#!/bin/bash -p
# Runs Criterion test programs: scripts/check.sh PROGRAM...
# A line for each, in their order, and the whole output of those that fail. Where the suite of a step is the only program,
# such as step04-check, it is its first failure, and the output lies beside the program. A program passes when it ends with 0 and
# says that it finished as many tests as Criterion counts (common/tests/finished.c). A program is skipped when it
# says of all its tests that they need a tool that is missing. Exit status 1 when any fails. AT_ONCE programs run at
# a time (1), with the cores divided among them. On a machine with several GPUs those that ONE_GPU names take turns
# with the GPUs, unless CUDA_VISIBLE_DEVICES is set. Those that ALL_GPUS names run by themselves, one test at a time,
# because two programs that both exchange data between the same GPUs may wait for ever. On a GPU programs in timing/ run
# by themselves, because they measure times. A terminal shows which programs run, and how many have ended.
export LC_ALL=C
set -u
# shellcheck source=scripts/in_order.sh
. "${BASH_SOURCE[0]%/*}/in_order.sh"
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
# shellcheck source=scripts/finished.sh
. "${BASH_SOURCE[0]%/*}/finished.sh"
# shellcheck source=scripts/first_failure.sh
. "${BASH_SOURCE[0]%/*}/first_failure.sh"
make_scratch
if [ $# -eq 0 ]; then
  echo "error: check was given no test program to run" >&2
  exit 2
fi
at_once=${AT_ONCE:-1}
if ! [[ $at_once =~ ^[1-9][0-9]*$ ]]; then
  echo "error: AT_ONCE is \"$at_once\": give the number of programs to run at a time, from 1 on" >&2
  exit 2
fi
workers=2 # tests of one program at a time, each a process
# They share the cores, so none may wait by spinning.
export OMP_WAIT_POLICY=passive
if [ "$at_once" -gt 1 ]; then
  threads=$(($(nproc) / at_once / workers))
  export OMP_NUM_THREADS=$((threads > 0 ? threads : 1))
fi
export LAB_TIED=1 # a program does not outlive this script (common/tests/together.c)
programs=("$@")
failed=()
skipped=0
missing='' # a line for each reason: tests, and the tool that they need
started=$SECONDS

gpus=0
if [ -n "${ONE_GPU:-}" ] && [ -z "${CUDA_VISIBLE_DEVICES:-}" ]; then gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU '); fi

# Whether the only program is the suite of a step, of which the first failure is shown.
is_one_step() { # number
  [ "${#programs[@]}" -eq 1 ] && [[ ${programs[$1]} == *-check ]]
}

takes_all_gpus() { # number
  [[ " ${ALL_GPUS:-} " == *" ${programs[$1]} "* ]]
}

# Leaves the output in $scratch/NUMBER.log, exit status and seconds in $scratch/NUMBER.end.
run_program() { # number
  local before=$SECONDS options=(--jobs "$workers")
  if takes_all_gpus "$1"; then options=(--jobs 1); fi
  if is_one_step "$1"; then options+=("--tap=$scratch/tap"); fi
  # Alone on a GPU a suite has room for more, and then takes three quarters of the time.
  if is_one_step "$1" && [[ ${programs[$1]} == */gpu*/* ]] && ! takes_all_gpus "$1"; then options[1]=4; fi
  echo "$before" >"$scratch/$1.begin"
  if [ "$gpus" -gt 1 ] && [[ " $ONE_GPU " == *" ${programs[$1]} "* ]]; then
    export CUDA_VISIBLE_DEVICES=$(($1 % gpus))
  fi
  "${programs[$1]}" "${options[@]}" >"$scratch/$1.log" 2>&1
  echo "$? $((SECONDS - before))" >"$scratch/$1.end"
}

if [ -t 1 ]; then columns=$(tput cols 2>/dev/null || echo 80); fi

# Prints one line with the number of programs that have ended, and the names and seconds of those that run, cut to
# the width of the terminal.
show_programs() {
  [ -t 1 ] || return 0
  local file number begin line ended=("$scratch"/*.end)
  [ -e "${ended[0]}" ] || ended=()
  line="  ....  ${#ended[@]} of ${#programs[@]}"
  for file in "$scratch"/*.begin; do
    number=${file##*/} number=${number%.begin}
    if [ -s "$file" ] && [ ! -e "$scratch/$number.end" ]; then
      read -r begin <"$file"
      line+=", ${programs[$number]#build/*/} $((SECONDS - begin)) s"
    fi
  done
  printf '\r%s\033[K' "${line:0:columns}"
}

# The first failure of a step's suite. That test runs again alone, because its lines stand among those of others.
show_first_failure() { # number
  local log=$scratch/$1.log test
  test=$(first_failed "$log")
  if [ -n "$test" ]; then "${programs[$1]}" --jobs 1 --verbose --filter "$test" >"$scratch/alone" 2>&1; fi
  say_first_failure "$log" "$scratch/alone"
}

report_program() { # number
  local name=${programs[$1]#build/*/} log=$scratch/$1.log status seconds tested needs
  read -r status seconds <"$scratch/$1.end"
  [ -t 1 ] && printf '\r\033[K'
  tested=$(tests_finished "$log")
  needs=$(sed -n 's/^skipped: \([0-9]*\) tests: needs \(.*\)$/\1\t\2/p' "$log")
  if [ -n "$needs" ]; then missing+="$needs"$'\n'; fi
  if tests_passed "$status" "$log"; then
    printf '  ok    %-36s %3d tests, %d s%s\n' "$name" "$tested" "$seconds" \
      "$(awk -F '\t' 'NF { printf ", %d skipped: needs %s", $1, $2 }' <<<"$needs")"
  elif [ "$status" -eq 0 ] && [ "$tested" -eq 0 ] && [ -n "$needs" ]; then
    skipped=$((skipped + 1))
    printf '  skip  %s: needs %s\n' "$name" "$(cut -f 2 <<<"$needs" | paste -sd , | sed 's/,/, /g')"
  else
    failed+=("$name")
    printf '  FAIL  %s\n' "$name"
    if [ "$status" -eq 0 ] && [ "$tested" -eq 0 ]; then
      echo "        it finished no test"
    elif [ "$status" -eq 0 ]; then
      echo "        it does not say that it finished all its tests"
    fi
    if is_one_step "$1" && [ "$status" -ne 0 ] && grep -q 'Synthesis:' "$log"; then
      cp "$log" "${programs[$1]}.log"
      show_first_failure "$1" | sed 's/^/        /'
      echo "        what all its tests say: ${programs[$1]}.log"
    else
      sed 's/^/        /' "$log"
    fi
  fi
}

runs_alone() { # number
  [[ ${programs[$1]} == */gpu*/timing/* ]] || takes_all_gpus "$1"
}

in_order $# "$at_once" run_program show_programs report_program runs_alone

if [ "${#failed[@]}" -gt 0 ]; then
  echo "check: ${#failed[@]} of $# test programs failed: ${failed[*]}"
  exit 1
fi
if [ -n "$missing" ]; then
  echo "check: skipped, because this machine lacks something:$(awk -F '\t' 'NF { if (!($2 in tests)) order[++tools] = $2; tests[$2] += $1 }
    END { for (i = 1; i <= tools; i++) printf "%s %d tests need %s", (i > 1 ? "," : ""), tests[order[i]], order[i] }' \
    <<<"$missing")"
fi
if [ "$skipped" -gt 0 ]; then
  echo "check: $(($# - skipped)) of $# test programs pass, $skipped skipped ($((SECONDS - started)) s)"
else
  echo "check: all $# test programs pass ($((SECONDS - started)) s)"
fi
