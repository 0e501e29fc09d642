#!/bin/bash -p
# Looks for wild accesses, races, unwritten memory and misused barriers in steps, on the GPU:
#   scripts/sanitize_gpu.sh FOLDER 04_online_softmax 05_wmma ...
# FOLDER holds the programs step04, step05, ... Runs each under the four tools of NVIDIA's
# compute-sanitizer, on the shapes of scripts/sanitize_shapes.txt or on ARGS alone; TOOLS names other
# tools. JOBS runs go on at a time: as many as there are cores, and at most 8. Prints the first finding of each
# pair of step and tool whole, and a table of them. A pair is left at its first finding, and with FIRST=1 so is
# everything. Exit status 1 when there is any, and 2 when ARGS make no sense or a step can take none of the shapes.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/finished.sh
. scripts/finished.sh
make_scratch
# shellcheck source=scripts/sanitize_options.sh
. scripts/sanitize_options.sh
# shellcheck source=scripts/in_order.sh
. scripts/in_order.sh
folder=$1
shift
steps=("$@")
read -ra tools <<<"${TOOLS:-memcheck racecheck initcheck synccheck}"
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")}
if ! [ -x "$sanitizer" ]; then
  echo "error: sanitize on the GPU needs compute-sanitizer, and $sanitizer is not there: it comes with" \
    "the CUDA toolkit; or give DEVICE=cpu for the emulator's" >&2
  exit 2
fi
at_once=${JOBS:-$(nproc)}
if [ "$at_once" -gt 8 ]; then at_once=8; fi # each holds a context and host memory of its own
export OMP_WAIT_POLICY=passive
export LAB_LIMIT=${LAB_LIMIT:-600} # the tools slow a kernel down
finding=9 # the exit status by which a tool tells findings from everything else

# The runs: all shapes of the first step under the first tool, then under the next.
run_pair=() run_options=() # such as "05_wmma memcheck", and the program's options
for step in "${steps[@]}"; do
  for tool in "${tools[@]}"; do
    while read -r options; do
      run_pair+=("$step $tool")
      run_options+=("$options")
    done < <(sanitize_options "$step")
  done
done

# Returns the file that tells later runs that they are not needed.
found() { # number
  if [ -n "${FIRST:-}" ]; then echo "$scratch/found"; else echo "$scratch/found ${run_pair[$1]}"; fi
}

# Leaves ok, FAIL, skip, refused or - in $scratch/NUMBER, and the log in $scratch/NUMBER.log. A run is started before
# those behind it: the first one that fails is always run, however many run at a time.
run_one() { # number
  local step tool status result=FAIL words
  read -r step tool <<<"${run_pair[$1]}"
  if [ -e "$(found "$1")" ]; then
    echo - >"$scratch/$1"
    return
  fi
  split_words "${run_options[$1]}"
  finishes "$sanitizer" --tool "$tool" --error-exitcode $finding --print-limit 20 "$folder/step${step%%_*}" \
    "${words[@]}" --no-check --no-time --csv >"$scratch/$1.log" 2>&1 </dev/null
  status=$?
  if [ "$status" -eq 0 ]; then
    result=ok
  elif [ "$status" -eq 2 ] && grep -q 'cannot take' "$scratch/$1.log"; then
    result=skip
  elif [ "$status" -eq 2 ] && [ -n "${ARGS:-}" ]; then
    result=refused
    : >"$(found "$1")"
  else
    : >"$(found "$1")"
  fi
  echo $result >"$scratch/$1"
}

show_run() { # number
  if [ -t 2 ]; then
    printf '\r  ....  %d of %d: %s %s\033[K' $(($1 + 1)) "${#run_pair[@]}" "${run_pair[$1]}" "${run_options[$1]}" >&2
  fi
}

# The result of a pair is FAIL from the first failure on, else ok from the first run that was not skipped.
declare -A verdict=()
failed=()
report_run() { # number
  local step tool result old=${verdict[${run_pair[$1]}]:--}
  read -r result <"$scratch/$1"
  [ -t 2 ] && printf '\r\033[K' >&2
  if [ "$result" = refused ]; then
    grep '^error: ' "$scratch/$1.log" >&2 || cat "$scratch/$1.log" >&2
    exit 2
  fi
  if [ -n "${FIRST:-}" ] && [ "${#failed[@]}" -gt 0 ]; then return; fi
  case $old,$result in
  FAIL,* | ok,skip | *,-) return ;;
  esac
  verdict[${run_pair[$1]}]=$result
  if [ "$result" = FAIL ]; then
    read -r step tool <<<"${run_pair[$1]}"
    failed+=("${step%%_*} $tool")
    echo "  FAIL  ${step%%_*} $tool: $folder/step${step%%_*} ${run_options[$1]}"
    # Up to the blank line that ends the first finding, less what the program printed.
    awk '/^=========/ { if (/^========= *$/ && lines > 1) exit; print; lines++ }' "$scratch/$1.log"
    grep '^error: ' "$scratch/$1.log"
  fi
}

started=$SECONDS
in_order "${#run_pair[@]}" "$at_once" run_one show_run report_run
{
  printf 'step'
  printf '\t%s' "${tools[@]}"
  for step in "${steps[@]}"; do
    printf '\n%s' "$step"
    for tool in "${tools[@]}"; do printf '\t%s' "${verdict[$step $tool]:--}"; done
  done
  echo
} | awk -f scripts/align.awk

if [ "${#failed[@]}" -gt 0 ]; then
  printf 'sanitize: findings in'
  printf ' %s,' "${failed[@]}" | sed 's/,$/\n/'
  exit 1
fi
for step in "${steps[@]}"; do
  for tool in "${tools[@]}"; do
    if [ "${verdict[$step $tool]:-}" = ok ]; then continue; fi
    echo "error: $step can take none of these shapes, so nothing is known of it" >&2
    exit 2
  done
done
echo "sanitize: no finding in ${steps[*]} ($((SECONDS - started)) s)"
