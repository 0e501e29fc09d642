#!/bin/bash -p
# Prints the resources that the compiler gave every kernel: scripts/ptxas.sh "sm_80 sm_90a" 01_naive 02_tiled ... A
# table of registers, shared memory, spills and the occupancy that follows; occupancy.awk explains it. Exit status 1
# when a kernel spills registers, or keeps an array in a stack, or a compiler warns. Without architectures ("") for
# all GPUs of scripts/gpus.txt. SHORT=1 compiles one element type for each head_dim (common/kernel/kernel.cuh), in half
# the time, and without architectures for the few of scripts/few_gpus.sh. Needs nvcc, no GPU.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/kernels.sh
. scripts/kernels.sh
need_nvcc ptxas
if [ -n "${TENTH:-}" ] && { [ -z "${SHORT:-}" ] || [ -n "$1" ]; }; then
  echo "error: TENTH=$TENTH takes a part of what SHORT=1 compiles for all GPUs: give SHORT=1, and leave ARCH out" >&2
  exit 2
fi
architectures=${1:-$(sed -n 's/^\(sm_[^ ]*\).*/\1/p' scripts/gpus.txt | tr '\n' ' ')}
if [ -n "${SHORT:-}" ] && [ -z "$1" ]; then
  list=$(scripts/few_gpus.sh "${@:2}") || exit
else
  list=$(pairs "$architectures" "${@:2}") || exit
fi
# From the last step on, because the compiler takes longest for the last ones, and one core would be left with them.
compile_all ptxas "$scratch" ${SHORT:+-DLAB_ONE_TYPE} < <(tac <<<"$list")

# Writes the dynamic shared memory that a step exports, in lines "CONFIGURATION HEAD_DIM BYTES".
write_dynamic() { # step
  local program=$scratch/$1.shared_memory
  : >"$scratch/$1.dynamic"
  if ! [ -f "$scratch/$1.o" ]; then return; fi # compiled without the code for the host
  if ! nm "$scratch/$1.o" | grep -q ' [TW] attention_shared_memory_bytes$'; then return; fi
  # In the place of NCCL, which steps for several GPUs call, stand functions that do nothing.
  nm -u "$scratch/$1.o" | awk '$2 ~ /^nccl/ { print "void " $2 "(void) {}" }' >"$program.c"
  if ! { "$nvcc" -c "$program.c" -o "$program.o" >&2 &&
    "$nvcc" "$scratch/shared_memory.o" "$scratch/$1.o" "$program.o" -o "$program" >&2 &&
    "$program" >"$scratch/$1.dynamic"; }; then
    touch "$scratch/$1.failed"
  fi
}

# Adds to rows that begin with a readable name, behind the static shared memory, the dynamic: that of the configuration
# and the head_dim that stand in the name's angle brackets, else "-". A kernel that merges has none.
add_dynamic() { # step
  awk -v file="$scratch/$1.dynamic" '
    BEGIN {
      FS = OFS = "\t"
      while ((getline <file) > 0) bytes[$1, $2] = $3
    }
    {
      count = split($1, argument, /[<>, ]+/)
      $4 = $4 OFS "-"
      for (i = 1; i <= count; i++)
        for (j = 1; j <= count; j++)
          if ($1 !~ /^merge_kernel</ && (argument[i], argument[j]) in bytes)
            sub(/-$/, bytes[argument[i], argument[j]], $4)
      print
    }'
}

# Leaves the rows of one step for one architecture in $folder/rows.
make_rows() { # step, folder of compile_all
  awk -v step="$1" -f scripts/resources.awk "$2/attention.ptx" "$2/log" >"$2/resources" &&
    readable_names <"$2/resources" | add_dynamic "$1" >"$2/rows.part" && mv "$2/rows.part" "$2/rows"
}

# A program is linked with each step, which takes half a second. So these programs are made side by side.
"$nvcc" -Icommon -c scripts/shared_memory.c -o "$scratch/shared_memory.o" >&2 || exit
for step in $(cut -d ' ' -f 1 <<<"$list" | sort -u); do
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
  write_dynamic "$step" &
done
wait
for failed in "$scratch"/*.failed; do
  if [ -e "$failed" ]; then exit 1; fi
done
while read -r step architecture _; do make_rows "$step" "$scratch/$step.$architecture"; done <<<"$list"

status=0
printf '%s\t' step for kernel registers threads static_shared dynamic_shared stack \
  spill_stores spill_loads blocks occupancy limited_by >"$scratch/table"
echo room >>"$scratch/table"
while read -r step architecture _; do
  folder=$scratch/$step.$architecture
  if grep -i -E 'warning|performance loss' "$folder/log" >&2; then
    echo "error: $steps/$step/attention.cu compiles with warnings for $architecture" >&2
    status=1
  fi
  [ -f "$folder/rows" ] || exit 1
  awk -F '\t' -v step="$step" -v architecture="$architecture" '
    $7 || $8 {
      printf "error: %s of step %s spills registers on %s\n", $1, step, architecture
      slow = 1
      next
    }
    $6 {
      printf "error: %s of step %s keeps an array of %d bytes in a stack, which is slow memory, on %s: " \
        "index it with constants alone, in loops that are unrolled\n", $1, step, $6, architecture
      slow = 1
    }
    END { exit slow }' "$folder/rows" >&2 || status=1
  paste "$folder/rows" <(cut -f 2-5 "$folder/rows" |
    awk -v architecture="$architecture" -f scripts/occupancy.awk) |
    sed "s/^/$step\t$architecture\t/" >>"$scratch/table"
done <<<"$list"
{
  awk -f scripts/align.awk "$scratch/table"
  cat <<'NOTE'

Shared memory, stack, spills and room are in bytes; blocks are those a multiprocessor holds at once. The
dynamic shared memory is known at the launch: a "-" counts as none, and then blocks and occupancy hold
as long as the launch asks for at most `room`.
NOTE
  if [ -z "${SHORT:-}" ] || [ -n "$1" ]; then
    scripts/made_for.sh --left-out "$architectures" "${@:2}" |
      awk -F '\t' '{ sub(/_.*/, "", $1); print "Step " $1 " needs " $2 ": it is not compiled for " $3 "." }'
  fi
} | scripts/fit.sh 3
exit $status
