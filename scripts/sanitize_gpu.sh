#!/usr/bin/env bash
# Looks for wild accesses, races, unwritten memory and misused barriers in steps, on the GPU:
#   scripts/sanitize_gpu.sh FOLDER 04_online_softmax 05_wmma ...
# FOLDER holds the programs step04, step05, ... Runs each under the four tools of NVIDIA's
# compute-sanitizer, on the shapes of scripts/sanitize_shapes.txt or on ARGS alone; TOOLS names other
# tools. Prints a table of step and tool, and the first finding of each pair whole. A pair is left at its
# first finding, and with FIRST=1 so is everything. Exit status 1 when there is any.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/sanitize_options.sh
. scripts/sanitize_options.sh
folder=$1
shift
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")}
if ! [ -x "$sanitizer" ]; then
  echo "error: sanitize on the GPU needs compute-sanitizer, and $sanitizer is not there: it comes with" \
    "the CUDA toolkit; or give DEVICE=cpu for the emulator's" >&2
  exit 2
fi
finding=9 # the exit status by which a tool tells findings from everything else
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs a pair on all shapes. Prints ok, FAIL or skip, and leaves the log of a failure in $scratch/log.
run_pair() { # STEP TOOL
  local program=$folder/step${1%%_*} options status ran=0
  while read -r options; do
    [ -t 2 ] && printf '\r  ....  %s %s %s\033[K' "${1%%_*}" "$2" "$options" >&2
    # shellcheck disable=SC2086 # options are words
    "$sanitizer" --tool "$2" --error-exitcode $finding --print-limit 20 \
      "$program" $options --no-check --no-time --csv >"$scratch/log" 2>&1 </dev/null
    status=$?
    [ -t 2 ] && printf '\r\033[K' >&2
    if [ "$status" -eq 0 ]; then
      ran=$((ran + 1))
    elif ! { [ "$status" -eq 2 ] && grep -q 'cannot take' "$scratch/log"; }; then
      { echo "  FAIL  ${1%%_*} $2: $program $options"; } >"$scratch/where"
      echo FAIL
      return
    fi
  done < <(sanitize_options "$1")
  if [ "$ran" -gt 0 ]; then echo ok; else echo skip; fi
}

started=$SECONDS
failed=()
{
  printf step
  # shellcheck disable=SC2086 # several names
  printf '\t%s' $tools
  echo
} >"$scratch/table"
for step in "$@"; do
  row=$step
  for tool in $tools; do
    if [ "${#failed[@]}" -gt 0 ] && [ -n "${FIRST:-}" ]; then
      result='-'
    else
      result=$(run_pair "$step" "$tool")
    fi
    row+=$'\t'$result
    if [ "$result" = FAIL ]; then
      failed+=("${step%%_*} $tool")
      cat "$scratch/where"
      # Up to the blank line that ends the first finding, less what the program printed.
      awk '/^=========/ { if (/^========= *$/ && lines > 1) exit; print; lines++ }' "$scratch/log"
      grep '^error: ' "$scratch/log"
    fi
  done
  echo "$row" >>"$scratch/table"
done
awk -f scripts/align.awk "$scratch/table"

if [ "${#failed[@]}" -gt 0 ]; then
  printf 'sanitize: findings in'
  printf ' %s,' "${failed[@]}" | sed 's/,$/\n/'
  exit 1
fi
echo "sanitize: no finding in $* ($((SECONDS - started)) s)"
