#!/usr/bin/env bash
# What ptxas says of every kernel: scripts/ptxas.sh "sm_80 sm_90a" 01_naive 02_tiled ...
# A table; exit status 1 when a kernel spills registers or a compiler warns. Needs nvcc, no GPU.
set -u
architectures=$1
shift
nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null; then
  echo "error: ptxas needs nvcc, the CUDA compiler: install the CUDA toolkit or set NVCC" >&2
  exit 2
fi

# The two lines that ptxas -v prints for each kernel, as one row of fields.
rows() {
  awk '
    /Compiling entry function/ { split($0, quoted, "\047"); name = quoted[2]; arch = quoted[4] }
    /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
    /Used [0-9]+ registers/ {
      smem = 0
      for (i = 1; i < NF; i++) if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) smem = $i
      match($0, /Used [0-9]+/)
      print name, arch, substr($0, RSTART + 5, RLENGTH - 5), smem, stores, loads, stack
    }' | c++filt | sed -E 's/__nv_bfloat16/bf16/g; s/__half/half/g; s/^(static )?(void )?//; s/\([^()]*(\([^()]*\)[^()]*)*\)//; s/, /,/g'
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
printf '%-18s %-42s %-8s %9s %11s %6s %12s %6s\n' step kernel for registers static_smem stack \
  spill_stores loads
for step in "$@"; do
  needs=$(sed -n 's|^// Needs: *||p' "steps/$step/attention.cu")
  for architecture in $architectures; do
    [ -n "$needs" ] && [ "$needs" != "$architecture" ] && continue
    "$nvcc" -std=c++17 -O3 -lineinfo -DNDEBUG -Icommon -Xcompiler -fPIC,-Wall,-Wextra -Xptxas -v \
      -gencode "arch=compute_${architecture#sm_},code=$architecture" \
      -c "steps/$step/attention.cu" -o "$scratch/attention.o" >"$scratch/log" 2>&1 || {
      cat "$scratch/log" >&2
      exit 1
    }
    if grep -i 'warning' "$scratch/log" >&2; then
      echo "error: steps/$step/attention.cu compiles with warnings for $architecture" >&2
      status=1
    fi
    rows <"$scratch/log" >"$scratch/rows"
    if ! [ -s "$scratch/rows" ]; then
      echo "error: ptxas reported no kernel of steps/$step/attention.cu" >&2
      exit 1
    fi
    while read -r kernel for_arch registers smem stores loads stack; do
      printf '%-18s %-42s %-8s %9s %11s %6s %12s %6s\n' "$step" "$kernel" "$for_arch" \
        "$registers" "$smem" "$stack" "$stores" "$loads"
      if [ "$stores" != 0 ] || [ "$loads" != 0 ]; then
        echo "error: $kernel of step $step spills registers on $for_arch" >&2
        status=1
      fi
    done <"$scratch/rows"
  done
done
exit $status
