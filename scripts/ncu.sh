# shellcheck shell=bash
# Functions that count_gpu.sh and calibrate.sh share, to count a program's kernels with ncu, NVIDIA's Nsight
# Compute. To be sourced from the root of the lab, and told a folder for its files in `scratch`. shellcheck
# disable=SC2154 # scratch

# shellcheck source=scripts/finished.sh
. scripts/finished.sh

export LAB_LIMIT=${LAB_LIMIT:-600} # ncu runs a kernel many times over
ncu=${NCU:-ncu}

need_ncu() { # verb
  if command -v "$ncu" >/dev/null; then return; fi
  local candidate
  for candidate in "${CUDA_HOME:-/usr/local/cuda}"/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do
    if [ -x "$candidate" ]; then ncu=$candidate && return; fi
  done
  echo "error: $1 on a GPU needs ncu, Nsight Compute's command line: install it with the CUDA toolkit," \
    "or set NCU; DEVICE=cpu counts on the emulator" >&2
  exit 2
}

# Ends the script with ncu's own message about its failure.
ncu_failed() { # what, log
  echo "error: ncu cannot $1" >&2
  sed -n 's/^==ERROR== */  ncu: /p' "$2" | head -n 10 >&2
  if grep -q ERR_NVGPUCTRPERM "$2"; then
    echo "  Counters are for administrators only on this machine: run as root, or see" \
      "https://developer.nvidia.com/ERR_NVGPUCTRPERM" >&2
  fi
  exit 2
}

# Writes to $scratch/metrics a line "column factor metric" for each line of scripts/ncu_metrics.txt, or of
# another file of its kind, whose metric this ncu knows; says which it does not. ncu takes seconds to list
# them: a script that has chosen tells those it calls by NCU_CHOSEN, the path of its own choice.
choose_metrics() { # [file]
  local list=${1:-scripts/ncu_metrics.txt}
  if [ -n "${NCU_CHOSEN:-}" ]; then
    cp "$NCU_CHOSEN" "$scratch/metrics"
    return
  fi
  "$ncu" --query-metrics >"$scratch/known" 2>"$scratch/log" || ncu_failed "list its metrics" "$scratch/log"
  awk -v list="$list" '
    NR == FNR {
      known[$1] = 1
      if ($1 ~ /__sass_/) lists_sass = 1
      next
    }
    /^#/ || NF == 0 { next }
    {
      count = split($3, names, "|")
      chosen = ""
      for (i = 1; i <= count && chosen == ""; i++) {
        base = names[i]
        sub(/\.[a-z_.]+$/, "", base)
        # Some versions list no metric that is counted by patching instructions, though they have them.
        if (base in known || (!lists_sass && base ~ /__sass_/)) chosen = names[i]
      }
      if (chosen != "") {
        print $1, $2, chosen
      } else {
        printf "warning: %s lacks a part: this ncu has none of %s (see %s)\n",
          $1, $3, list >"/dev/stderr"
      }
    }' "$scratch/known" "$list" >"$scratch/metrics"
}

# Runs the program with its kernels counted. Its standard output goes to $scratch/output, and to
# $scratch/sums, for each kernel launched, lines "number <tab> column <tab> value".
count_kernels() { # program arguments...
  local names
  names=$(cut -d ' ' -f 3 "$scratch/metrics" | sort -u | paste -sd ,)
  rm -f "$scratch/counted"
  if ! finishes "$ncu" --csv --page raw --print-units base --clock-control none --metrics "$names" \
    --log-file "$scratch/counted" "$@" >"$scratch/output" 2>"$scratch/log"; then
    cat "$scratch/log" >&2
    ncu_failed "count the kernels of $1" "$scratch/counted"
  fi
  if ! awk -f scripts/ncu_sums.awk "$scratch/metrics" "$scratch/counted" >"$scratch/sums"; then
    echo "error: ncu's table of $1 is not what was expected: it is in $PWD/build/ncu.csv" >&2
    cp "$scratch/counted" build/ncu.csv
    exit 2
  fi
}
