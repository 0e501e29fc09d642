#!/bin/bash -p
# Counts the requests of each step to memory and its work for tensor cores, with the GPU's counters:
#   scripts/count_gpu.sh FOLDER PROGRAM... -- [OPTION...]
# Runs each step's program once under ncu, adds its kernels up, prints the sums and puts a row in
# FOLDER/counts.csv. Caches are flushed before each kernel and clocks are left alone; the shape is that
# of the emulator's counts, 1x1x256x64, unless the options say otherwise.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/ncu.sh
. scripts/ncu.sh
folder=$1
shift
programs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do programs+=("$1") && shift; done
[ $# -eq 0 ] || shift
configuration=$(sed -n 's/.*--config[ =]\([^ ]*\).*/\1/p' <<<"$*")
options=()
case " $* " in *' --batch'*) ;; *) options+=(--batch 1) ;; esac
case " $* " in *' --heads'*) ;; *) options+=(--heads 1) ;; esac
case " $* " in *' --seq'*) ;; *) options+=(--seq 256) ;; esac
need_ncu count
choose_metrics
for program in "${programs[@]}"; do
  [ -t 2 ] && printf 'count: %s under ncu ...' "$program" >&2
  count_kernels "$program" --no-check --no-time --csv "${options[@]}" "$@"
  [ -t 2 ] && printf '\r\033[K' >&2
  # The program's own report says which step, device and shape; its last two lines are names and values.
  tail -n 2 "$scratch/output" | awk -v sums="$scratch/sums" -v configuration="$configuration" '
    BEGIN {
      FS = OFS = ","
      while ((getline line <sums) > 0) {
        split(line, field, "\t")
        total[field[2]] += field[3]
        if (field[1] + 1 > kernels) kernels = field[1] + 1
      }
      shape = split("step device dtype batch heads kv_heads seq_q seq_kv head_dim causal", wanted, " ")
    }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 {
      names = "configuration,source"
      values = configuration ",ncu"
      for (i = 1; i <= shape; i++) {
        names = names OFS wanted[i]
        values = values OFS $at[wanted[i]]
      }
      # The reader recognises the line of names by the name of the first column.
      sub(/^configuration,source,step/, "step,configuration,source", names)
      split(values, value)
      sub(/^[^,]*,[^,]*,[^,]*/, value[3] "," value[1] "," value[2], values)
      printf "%s on %s, %dx%dx%dx%d %s: %d kernels\n\n", $at["step"], $at["device"], $at["batch"],
        $at["heads"], $at["seq_q"], $at["head_dim"], $at["dtype"], kernels >"/dev/stderr"
      for (c in total) {
        names = names OFS c
        values = values OFS sprintf("%.0f", total[c])
        printf "  %-24s %15.0f\n", c, total[c] >"/dev/stderr"
      }
      print names
      print values
    }' >"$scratch/row" 2>"$scratch/said"
  if [ "$(wc -l <"$scratch/row")" -ne 2 ]; then
    echo "error: $program --csv reported nothing that a row can be made of:" >&2
    cat "$scratch/output" >&2
    exit 2
  fi
  { head -n 2 "$scratch/said"; tail -n +3 "$scratch/said" | sort; echo; }
  scripts/record_counts.sh "$folder" <"$scratch/row"
done
