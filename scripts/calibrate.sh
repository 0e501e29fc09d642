#!/bin/bash -p
# Compares the emulator's counts with known counts: scripts/calibrate.sh FOLDER CPU_BUILD [GPU_BUILD STEP...] The
# small kernels of common/tools/calibration are compared with the answers on paper. With GPU_BUILD they are also
# compared with the counters of the GPU, and so is each step's program. Prints a table and writes
# FOLDER/calibration.csv: kernel,column,expected,emulator,ncu,difference in percent of ncu. Exit status 1 when the
# emulator differs from an answer on paper.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/ncu.sh
. scripts/ncu.sh
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
folder=$1 cpu=$2 gpu=${3:-}
shift $(($# < 3 ? $# : 3))

# kernel,column,expected,emulator
finishes "$cpu/calibrate" >"$scratch/rows"
tail -n +2 "$scratch/rows" >"$scratch/emulator"
: >"$scratch/ncu"
if [ -n "$gpu" ]; then
  need_ncu calibrate
  choose_metrics
  count_kernels "$gpu/calibrate"
  # The kernels run in the order of the program's rows; each is given its name.
  awk -F '[,\t]' '
    NR == FNR {
      if (FNR > 1 && !($1 in seen)) name[count++] = $1
      seen[$1] = 1
      next
    }
    { printf "%s,%s,%.0f\n", name[$1], $2, $3 }' "$scratch/output" "$scratch/sums" >"$scratch/ncu"
  # The steps are compared by both sources in the record of counts, which is written again for this.
  mkdir -p "$scratch/count"
  programs=()
  for step in "$@"; do
    name=step${step%%_*}
    programs+=("$gpu/$name")
    finishes "$cpu/count" "$scratch/count" "$cpu/$name.so" >/dev/null
    scripts/record_counts.sh "$folder" <"$scratch/count/$name.csv" >/dev/null
  done
  [ $# -eq 0 ] || NCU_CHOSEN=$scratch/metrics scripts/count_gpu.sh "$folder" "${programs[@]}" >/dev/null
  for step in "$@"; do
    awk -F , -v step="$step" -v emulator="$scratch/emulator" -v ncu="$scratch/ncu" '
      /^step,/ { for (i = 1; i <= NF; i++) column[i] = $i; next }
      $1 == step && $2 == "" && $4 == "fp16" && $5 == 1 && $6 == 1 && $8 == 256 && $9 == 256 && $10 == 64 && $11 == 0 {
        for (i = 13; i <= 24; i++)
          if ($12 == "emulator") print step "," column[i] ",," $i >>emulator
          else print step "," column[i] "," $i >>ncu
      }' "$folder/counts.csv"
  done
fi

mkdir -p "$folder"
awk -F , -v commit="$commit" -v date="$date" -v table="$scratch/table" '
  FILENAME ~ /ncu$/ { counted[$1, $2] = $3; next }
  BEGIN {
    OFS = ","
    print "# The emulator and the answers on paper against the counters of the GPU; difference: of the" \
      " emulator, in percent of ncu"
    print "kernel,column,expected,emulator,ncu,difference,commit,date"
    printf "kernel\tcolumn\texpected\temulator\tncu\tdifference\n" >table
  }
  {
    ncu = ($1, $2) in counted ? counted[$1, $2] : ""
    if ($3 + $4 + ncu == 0) next
    difference = ncu == "" ? "" : ncu > 0 ? sprintf("%.2f", 100 * ($4 - ncu) / ncu) : "new"
    print $1, $2, $3, $4, ncu, difference, commit, date
    limit = $2 ~ /wavefronts/ ? 5 : 2
    far = difference == "new" || difference + 0 > limit || -difference > limit # + 0: a number, not a text
    wrong = $3 != "" && $3 != $4
    if (far) beyond++
    if (wrong) mistakes++
    rows++
    printf "%s\t%s\t%s\t%s\t%s\t%s\n", $1, $2, ($3 == "" ? "-" : $3), $4 (wrong ? " WRONG" : ""), \
      (ncu == "" ? "-" : ncu), (difference == "" ? "-" : difference (difference == "new" ? "" : " %") (far ? " *" : "")) >table
  }
  END {
    printf "%d values: %d of the emulator differ from the answer on paper", rows, mistakes >(table ".end")
    printf ncu_seen() ? ", %d from ncu by more than 2 %% (wavefronts 5 %%), marked *\n" : "\n", beyond >(table ".end")
    if (beyond) print "plots/counts.md explains the differences that are known" >(table ".end")
    exit mistakes > 0
  }
  function ncu_seen(    any) {
    for (any in counted) return 1
    return 0
  }' "$scratch/ncu" "$scratch/emulator" >"$scratch/calibration" || status=1
write_whole "$folder/calibration.csv" <"$scratch/calibration"
awk -f scripts/align.awk "$scratch/table"
echo
cat "$scratch/table.end"
echo "written: $folder/calibration.csv"
exit "${status:-0}"
