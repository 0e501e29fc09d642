#!/usr/bin/env bash
# Compares kernels with stamps that are compiled out and kernels whose headers have none: stamps_off.sh NVCC [STEP...]
# The headers without stamps are copies of common/kernel, less all words that begin with TIMELINE_. Two things are
# compared: what the preprocessor makes of the headers that have stamps, less all blanks, and the whole cubin of
# the steps, in the first configuration of each head_dim and without line numbers, which may differ. The cubins are equal
# byte by byte, so nothing has to be left out of the comparison. With stamps the steps, which have wgmma, must spill no
# register. Exit status 1 when anything differs.
export LC_ALL=C
set -eu
nvcc=$1
shift
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
mkdir "$scratch/with" "$scratch/without"
for tree in with without; do cp -r common/attention.h common/kernel common/timeline steps "$scratch/$tree/"; done
rm "$scratch/without/kernel/timeline.cuh"
sed -i '/#include "timeline.cuh"/d; s/ *TIMELINE_[A-Z_0-9]*\(([^()]*)\)\{0,1\}//g' "$scratch"/without/kernel/*.cuh
printf '#include "%s"\n' kernel.cuh ptx.cuh hopper.cuh wgmma.cuh fragments.cuh wmma.cuh >"$scratch/with/all.cu"
cp "$scratch/with/all.cu" "$scratch/without/"

compile() { # with|without, option..., file
  (cd "$scratch/$1" && "$nvcc" -std=c++17 -O3 -DNDEBUG -DLAB_FIRST_CONFIGURATION -I. -Ikernel -arch=sm_90a "${@:2}")
}
same() { # what, file, file
  if cmp -s "$2" "$3"; then
    echo "same: $1"
  else
    echo "differs: $1"
    differs=yes
  fi
}
differs=no
for tree in with without; do compile $tree -E -Xcompiler -P all.cu | tr -d ' \n' >"$scratch/$tree.text"; done
same "the preprocessed headers" "$scratch/with.text" "$scratch/without.text"
compile with -E -Xcompiler -P -DLAB_TIMELINE=2 all.cu | tr -d ' \n' >"$scratch/stamped.text"
if cmp -s "$scratch/with.text" "$scratch/stamped.text"; then
  echo "differs: nothing, even with stamps: the comparison is worth nothing"
  differs=yes
fi
for step in "$@"; do
  for tree in with without; do compile $tree -cubin -o "../$tree.cubin" "steps/$step/attention.cu"; done
  same "the cubin of $step" "$scratch/with.cubin" "$scratch/without.cubin"
  # A stamp must not cost more than its few instructions: no spilled register, and no name of a file, which would be
  # made a number at run time, letter by letter.
  compile with -cubin -DLAB_TIMELINE=2 -Xptxas -v -o ../stamped.cubin "steps/$step/attention.cu" >"$scratch/log" 2>&1
  if grep -q 'bytes spill' "$scratch/log" && ! grep -q '[1-9][0-9]* bytes spill' "$scratch/log"; then
    echo "no spilled register: $step with stamps"
  else
    grep 'spill' "$scratch/log" || cat "$scratch/log"
    differs=yes
  fi
  if grep -q -a 'attention\.cu' "$scratch/stamped.cubin"; then
    echo "differs: $step with stamps has the name of its file in the kernel"
    differs=yes
  fi
done
[ $differs = no ]
