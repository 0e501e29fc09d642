#!/bin/bash -p
# Prints the five metrics of a step, beside those of the step that it comes after:
#   scripts/workshop/ncu.sh PROGRAM [PROGRAM_BEFORE] -- [OPTION...]
# Keeps ncu's whole report in build/ncu, for ncu-ui. The options choose the problem, which the first line names. Of
# several kernels, durations and conflicts are added up; the rest is their mean, weighted by duration.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/ncu.sh
. scripts/ncu.sh
programs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do programs+=("$1") && shift; done
[ $# -eq 0 ] || shift
need_ncu ncu
choose_metrics scripts/workshop/ncu_metrics.txt
names=$(cut -d ' ' -f 3 "$scratch/metrics" | paste -sd ,)
mkdir -p build/ncu
for program in "${programs[@]}"; do
  name=${program##*/}
  [ -t 2 ] && printf 'ncu: %s, many times over ...' "$program" >&2
  finishes "$ncu" --set full --metrics "$names" --force-overwrite --export "build/ncu/$name" \
    "$program" --no-check --no-time "$@" >"$scratch/log" 2>&1 || {
    [ -t 2 ] && echo >&2
    ncu_failed "profile $program" "$scratch/log"
  }
  [ -t 2 ] && printf '\r\033[K' >&2
  "$ncu" --import "build/ncu/$name.ncu-rep" --csv --page raw --print-units base >"$scratch/counted" ||
    ncu_failed "read build/ncu/$name.ncu-rep" "$scratch/counted"
  if ! awk -f scripts/ncu_sums.awk "$scratch/metrics" "$scratch/counted" >"$scratch/$name.sums"; then
    echo "error: ncu's table of $program is not what was expected: see build/ncu/$name.ncu-rep" >&2
    exit 2
  fi
  echo "$name" >>"$scratch/names"
done
sed -n '/^shape  */{p;q;}' "$scratch/log" # of which the numbers are
awk -F '\t' -v OFS='\t' -v scratch="$scratch" '
  {
    file = scratch "/" $1 ".sums"
    step[NR] = $1
    delete value
    while ((getline row <file) > 0) {
      split(row, field, "\t")
      value[field[1], field[2]] = field[3]
      if (field[1] + 1 > kernels[NR]) kernels[NR] = field[1] + 1
      measured[field[2]] = 1
    }
    for (k = 0; k < kernels[NR]; k++) {
      time = value[k, "duration"]
      for (metric in measured) {
        added = metric == "duration" || metric == "bank_conflicts"
        total[NR, metric] += value[k, metric] * (added ? 1 : time)
      }
      all[NR] += time
    }
  }
  END {
    print "metric", step[1] (NR > 1 ? OFS step[2] OFS step[1] " / " step[2] : "")
    count = split("duration bandwidth occupancy warp_efficiency bank_conflicts", wanted, " ")
    split("ms, duration|% of DRAM bandwidth|% occupancy|% warp efficiency|shared bank conflicts", title, "|")
    for (w = 1; w <= count; w++) {
      metric = wanted[w]
      line = title[w]
      for (n = 1; n <= NR; n++) {
        shown = total[n, metric]
        if (metric != "duration" && metric != "bank_conflicts") shown /= all[n]
        number[n] = shown
        line = line OFS (metric in measured ? sprintf(metric == "bank_conflicts" ? "%.0f" : "%.4g", shown) : "-")
      }
      if (NR > 1) line = line OFS (metric in measured && number[2] > 0 ? sprintf("%.2f", number[1] / number[2]) : "-")
      print line
    }
  }' "$scratch/names" | awk -f scripts/align.awk
for program in "${programs[@]}"; do echo "written: build/ncu/${program##*/}.ncu-rep"; done
