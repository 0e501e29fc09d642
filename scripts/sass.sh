#!/bin/bash -p
# The machine code of the steps' kernels: scripts/sass.sh "sm_80 sm_90a" 04_online_softmax 05_wmma ...
# Counts the instructions that tell how a kernel works, and saves the code, between its source lines, as
# build/sass/STEP.ARCHITECTURE.sass. Needs nvcc, no GPU. Takes NVIDIA's disassembler from the toolkit, or
# from where make deps-sass has put it.
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
need_nvcc sass

# Prints the path of nvdisasm, which cuobjdump, too, needs for code: it can tell source lines itself.
find_nvdisasm() {
  local candidate
  candidate=$(command -v "$nvcc")
  candidate=${candidate%/*}/nvdisasm
  if [ -x "$candidate" ]; then echo "$candidate" && return; fi
  if command -v nvdisasm; then return; fi
  candidate=.deps/usr/bin/nvdisasm
  if [ -x "$candidate" ]; then echo "$candidate" && return; fi
  echo "error: sass needs NVIDIA's disassembler nvdisasm, which is neither beside nvcc nor in PATH: install it with" \
    "the CUDA toolkit, or run make deps-sass, which fetches it with pip (5 MB)" >&2
  return 2
}

list=$(pairs "$@") || exit
nvdisasm=$(find_nvdisasm) || exit
compile_all sass "$scratch" <<<"$list"

# Tensor cores; copies to shared memory beside the maths (cp.async, TMA); ldmatrix; shared memory; loads
# from wherever the address points, where the compiler could not tell; global memory; float32
# multiply-adds and special functions (exp2); barriers; shuffles; local memory, which spills go to.
instructions="HMMA HGMMA LDGSTS UTMALDG LDSM LDS STS LD LDG STG FFMA MUFU BAR SHFL LDL STL"

# A row of kernel and instruction for each instruction of a listing, less its predicate.
instructions_of() {
  awk '/^\/\/-+ \.text\./ { kernel = $2; sub(/^\.text\./, "", kernel) }
    /^ +\/\*[0-9a-f]+\*\// {
      opcode = $2 ~ /^@/ ? $3 : $2
      sub(/;$/, "", opcode)
      print kernel "\t" opcode
    }' "$1"
}

# shellcheck disable=SC2086 # several names
printf '%s\t' step for kernel all $instructions | sed 's/\t$/\n/' >"$scratch/table"
mkdir -p build/sass
written=()
while read -r step architecture; do
  folder=$scratch/$step.$architecture
  "$nvdisasm" -c -g "$folder/attention.cubin" >"$folder/listing" || exit 1
  instructions_of "$folder/listing" | awk -v names="$instructions" -f scripts/count.awk >"$folder/counts"
  readable_names <"$folder/counts" >"$folder/rows"
  sort -V "$folder/rows" | sed "s/^/$step\t$architecture\t/" >>"$scratch/table"
  paste <(cut -f 1 "$folder/counts") <(cut -f 1 "$folder/rows") >"$folder/kernels"
  file=build/sass/$step.$architecture.sass
  awk -v root="$PWD" -v kernels="$folder/kernels" -f scripts/annotate_sass.awk "$folder/listing" \
    >"$folder/annotated" && write_whole "$file" <"$folder/annotated" || exit 1
  written+=("$file")
done <<<"$list"
awk -f scripts/align.awk "$scratch/table"
echo
echo "These are instructions in the program; loops run theirs many times."
echo "written: ${written[*]}"
