#!/bin/bash -p
# The PTX of the steps' kernels: scripts/ptx.sh "sm_80 sm_90a" 04_online_softmax 05_wmma ...
# PTX is what nvcc makes of the source, before ptxas makes machine code of it. Counts the instructions
# that tell how a kernel works, and saves the PTX, between its source lines, as
# build/ptx/STEP.ARCHITECTURE.ptx. Needs nvcc, no GPU.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/kernels.sh
. scripts/kernels.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
# shellcheck source=scripts/writable.sh
. scripts/writable.sh
need_nvcc ptx
need_writable build/ptx
list=$(pairs "$@") || exit
compile_all ptx "$scratch" --source-in-ptx <<<"$list"

# Tensor cores; ldmatrix; copies beside the maths (TMA: bulk); shared memory; barriers; shuffles.
instructions="wmma.load wmma.mma wmma.store mma.sync wgmma.mma_async ldmatrix cp.async.ca cp.async.cg \
  cp.async.bulk ld.shared st.shared bar.sync shfl.sync"

# A row of kernel and instruction for each instruction. A line may hold several, in braces where they
# come from inline assembly, and each may begin with a predicate.
instructions_of() {
  awk '
    { sub(/\/\/.*/, "") }
    /\.entry / {
      match($0, /\.entry +[^( ]+/)
      kernel = substr($0, RSTART + 6, RLENGTH - 6)
      gsub(/ /, "", kernel)
    }
    !/;/ { next }
    {
      count = split($0, statement, ";")
      for (i = 1; i <= count; i++) {
        gsub(/^[ \t{}]+/, "", statement[i])
        sub(/^@!?%?[A-Za-z0-9_]+[ \t]+/, "", statement[i])
        if (statement[i] ~ /^[a-z]/) {
          split(statement[i], word, /[ \t]/)
          print kernel "\t" word[1]
        }
      }
    }' "$1"
}

# shellcheck disable=SC2086 # several names
printf '%s\t' step for kernel all $instructions | sed 's/\t$/\n/' >"$scratch/table"
written=()
while read -r step architecture; do
  folder=$scratch/$step.$architecture
  instructions_of "$folder/attention.ptx" | awk -v names="$instructions" -f scripts/count.awk |
    readable_names | sed "s/^/$step\t$architecture\t/" >>"$scratch/table"
  file=build/ptx/$step.$architecture.ptx
  write_whole "$file" <"$folder/attention.ptx" || exit 1
  written+=("$file")
done <<<"$list"
awk -f scripts/align.awk "$scratch/table"
echo
echo "These are instructions in the program; loops run theirs many times."
echo "written: ${written[*]}"
