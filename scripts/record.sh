#!/bin/bash -p
# Records the times that the lab's charts and tables are made of: scripts/record.sh [PART...]
# Parts: ceilings ladder sweep variants substeps peers shapes spread waves decode bench timeline; without PART all of them, in
# this order. MAKE is the make to call, FA3 and FA3_DECODE shared objects with FlashAttention-3's kernels; FRESH=1 measures again what is there.
# One part that fails does not keep the others from being recorded. Exit status 1 when one has failed, 2 for a
# part that there is not.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
make=${MAKE:-make}
failed=''

run() { # words for make
  local before=$SECONDS
  echo "record: make $*"
  if "$make" --no-print-directory "$@" ${FRESH:+FRESH=$FRESH}; then
    echo "record: $((SECONDS - before)) s: make $*"
  else
    echo "record: FAILED after $((SECONDS - before)) s: make $*" >&2
    failed+="${failed:+, }make $*"
  fi
}

part() {
  case $1 in
  ceilings) run ceilings ;;
  ladder)
    run ladder-now
    run ladder-now NAME=ladder-bf16 ARGS='--dtype bf16'
    run ladder-now NAME=ladder-dim128 ARGS='--heads 16 --dim 128'
    run ladder-now NAME=ladder-one-head ARGS='--batch 1 --heads 1'
    ;;
  sweep)
    local step
    for step in 05 06 07 09 15 16 17; do
      run "step$step" sweep
      run "step$step" sweep "NAME=sweep-$step-dim128" ARGS='--heads 16 --dim 128'
    done
    for step in 15 16 17; do # whose choice depends on the length as well
      run "step$step" sweep "NAME=sweep-$step-short" ARGS='--batch 16 --seq 1024'
      run "step$step" sweep "NAME=sweep-$step-seq64" ARGS='--batch 256 --seq 64'
      run "step$step" sweep "NAME=sweep-$step-seq64-dim128" ARGS='--batch 256 --seq 64 --heads 16 --dim 128'
      run "step$step" sweep "NAME=sweep-$step-seq128-dim128" ARGS='--batch 128 --seq 128 --heads 16 --dim 128'
    done
    for seq in 2048 3072 8192; do # whose last tiles have different numbers of rows that are not there
      run step17 sweep "NAME=sweep-17-seq$seq" ARGS="--seq $seq"
    done
    run step17 sweep NAME=sweep-17-causal ARGS=--causal
    run step17 sweep NAME=sweep-17-seq128-dim128-causal ARGS='--batch 128 --seq 128 --heads 16 --dim 128 --causal'
    ;;
  variants | substeps)
    local steps=() step
    for step in steps/*/"$1"; do
      if [ -d "$step" ]; then steps+=("$(basename "${step%/*}")"); fi
    done
    run "$1" RECORD=1 STEPS="${steps[*]}"
    ;;
  peers | shapes | spread) run "$1" ${FA3:+FA3="$FA3"} ;;
  waves)
    run waves ${FA3_DECODE:+FA3_DECODE="$FA3_DECODE"}
    run step24 splits
    ;;
  decode)
    run decode ${FA3_DECODE:+FA3_DECODE="$FA3_DECODE"}
    for step in 18 19 20; do run "step$step" splits; done
    ;;
  bench) run bench ;;
  timeline)
    for step in 06 09 11 12 13 14 15 16 17; do
      run "step$step" timeline
      run "step$step" timeline ARGS='--dim 128'
    done
    ;;
  esac
}

parts="ceilings ladder sweep variants substeps peers shapes spread waves decode bench timeline"
for name; do
  if [[ " $parts " != *" $name "* ]]; then
    echo "error: there is no part '$name': there are ${parts// /, }" >&2
    exit 2
  fi
done
for name in ${*:-$parts}; do part "$name"; done
if [ -n "$failed" ]; then
  echo "record: these failed: $failed" >&2
  exit 1
fi
echo "record: all is recorded in $SECONDS s"
