#!/bin/bash -p
# Compares kernels with stamps that are compiled out and kernels whose headers have none:
#   stamps_off.sh NVCC STEP NUMBER...
# The headers without stamps are copies of common/kernel, less all words that begin with TIMELINE_, and with 0 in place
# of the bytes of shared memory that stamps take. Two things are compared: what the preprocessor makes of the headers that
# have stamps, less all blanks, and the whole cubin of the step, in the first configuration of each head_dim and without
# line numbers, which may differ. The cubins are equal byte by byte, so nothing has to be left out of the comparison.
# Exit status 1 when anything differs.
export LC_ALL=C
set -eu
nvcc=$1 step=$2
shift 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
mkdir "$scratch/with" "$scratch/without"
for tree in with without; do cp -r common/attention.h common/kernel common/timeline steps "$scratch/$tree/"; done
rm "$scratch/without/kernel/timeline.cuh"
sed -i '/#include "timeline.cuh"/d; s/TIMELINE_SHARED_BYTES/0/g; s/ *TIMELINE_[A-Z_0-9]*\(([^()]*)\)\{0,1\}//g' "$scratch"/without/kernel/*.cuh
printf '#include "%s"\n' kernel.cuh ptx.cuh hopper.cuh wgmma.cuh fragments.cuh wmma.cuh >"$scratch/with/all.cu"
cp "$scratch/with/all.cu" "$scratch/without/"

standard=17
compile() { # with|without, option..., file
  (cd "$scratch/$1" && "$nvcc" -std=c++$standard -O3 -DNDEBUG -DLAB_FIRST_CONFIGURATION -I. -Ikernel -arch=sm_90a "${@:2}")
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
for tree in with without; do compile $tree -cubin -o "../$tree.cubin" "steps/$step/attention.cu"; done
same "the cubin of $step" "$scratch/with.cubin" "$scratch/without.cubin"

# With stamps no register is spilled, and each place in the source is a constant: the NUMBERs, of places that the caller
# knows, stand in the PTX, and no name of a file, whose letters a stamp would go through at run time.
standard=20
mkdir "$scratch/kept"
compile with -cubin -DLAB_TIMELINE=2 -Xptxas -v --keep --keep-dir ../kept -o ../stamped.cubin "steps/$step/attention.cu" \
  >"$scratch/log" 2>&1 || { cat "$scratch/log" && exit 1; }
if grep -q 'bytes spill' "$scratch/log" && ! grep -q '[1-9][0-9]* bytes spill' "$scratch/log"; then
  echo "no spilled register: $step with stamps"
else
  grep 'spill' "$scratch/log"
  differs=yes
fi
for number; do
  if ! grep -q -w -e "$number" -e "$((number - 4294967296))" "$scratch"/kept/*.ptx; then
    echo "differs: $step with stamps has no constant $number"
    differs=yes
  fi
done
if grep -q -a 'attention\.cu' "$scratch/stamped.cubin"; then
  echo "differs: $step with stamps has the name of its file in the kernel"
  differs=yes
fi
[ $differs = no ]
