#!/bin/bash -p
# Puts what this machine has recorded into the published record: scripts/publish.sh [DEVICE_FOLDER [NAME]]
# Copies results/<device>/*.csv, or NAME.csv and its NAME-samples.csv alone, to plots/data/<device>, draws the charts and
# writes the tables again, and shows which numbers of the texts are old now. A file replaces the whole published one, but
# bugs.csv, mutants.csv, counts.csv, counts-lines.csv and the files of variants are merged, so that the published rows of
# other steps stay, and those of other numbers of GPUs. So are bench.csv, peers.csv, shapes.csv, spread.csv, waves.csv
# and decode.csv, by shape: all that was timed at one shape was timed in turn, and stays together.
# Rows of steps that have got another name since are left out. Of the emulator only bugs.csv, mutants.csv and
# counts-lines.csv, which the lab book shows, are published, because its other records can be made quickly on any machine.
# Exit status 2 when there is nothing to publish.
export LC_ALL=C
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
folders=(results/*)
if [ -n "${1:-}" ]; then folders=("results/$1"); fi
name=${2:-}

# Prints the rows of the old file, with their values in the columns of the new one that have the same names; a column that
# the old file lacks stays empty. The new one may have got more columns since the other rows were recorded.
in_new_columns() { # published file, new file
  awk -F , '
    FNR == 1 { header = $0 }
    FNR == NR { if (FNR == 1) new = $0; next }
    header == new { if (FNR > 1) print; next }
    FNR == 1 {
      for (i = 1; i <= NF; i++) from[$i] = i
      columns = split(new, name, ",")
      next
    }
    /"/ { print "error: " FILENAME ": a row with quotes cannot be put into new columns" >"/dev/stderr"; exit 2 }
    {
      for (i = 1; i <= columns; i++)
        printf "%s%s", (name[i] in from ? $from[name[i]] : ""), (i < columns ? "," : "\n")
    }' "$2" "$1"
}

# Whether the new file has all columns of the old one. Else rows of the old one would lose what they hold.
lacks_no_column() { # published file, new file
  awk -F , '
    /^#/ { next }
    FILENAME == old { for (i = 1; i <= NF; i++) columns[$i]; nextfile }
    { for (i = 1; i <= NF; i++) delete columns[$i]; exit }
    END { for (name in columns) exit 1 }' old="$1" "$1" "$2"
}

# Prints the rows of the new file, and those of the old one whose shape does not occur in the new one, by the old one's
# order of shapes. The comments of the old one, which name the GPU of a run and end with its commit, stay as long as rows
# of that commit do.
join_shapes() { # published file, new file
  local rows=''
  if [ -f "$1" ] && lacks_no_column "$1" "$2"; then
    rows=$(in_new_columns <(grep -v '^#' "$1") <(grep -v '^#' "$2")) || return
    rows=$(grep '^#' "$1" || true; grep -v '^#' "$2" | head -n 1; echo "$rows")
  fi
  awk -F , '
    FNR == 1 { header = "" }
    /^#/ { if (FILENAME == new) comments = comments $0 "\n"; else old_comment[++old_comments] = $0; next }
    header == "" {
      header = $0
      if (FILENAME == new) columns = $0
      for (i = 1; i <= NF; i++) column[$i] = i
      last = "rising" in column ? column["rising"] : column["causal"] # peers have score_deviation and rising, too
      next
    }
    {
      key = ""
      for (i = column["dtype"] + 0; i <= last; i++) key = key FS $i
    }
    FILENAME == new {
      if (!(key in replaced)) order[++shapes] = key
      replaced[key] = replaced[key] $0 "\n"
      next
    }
    !(key in replaced) { rows[++count] = $0 "\n"; kept = 1; if ("commit" in column) stays[$column["commit"]]; next }
    !(key in printed) { printed[key]; rows[++count] = replaced[key] }
    END {
      for (i = 1; i <= old_comments && kept; i++) {
        if (index("\n" comments run, "\n" old_comment[i] "\n") == 0) run = run old_comment[i] "\n"
        if (!match(old_comment[i], /: commit = [^,]*/)) continue
        if (!("commit" in column) || substr(old_comment[i], RSTART + 11, RLENGTH - 11) in stays) comments = comments run
        run = ""
      }
      printf "%s%s%s\n", comments, run, columns
      for (i = 1; i <= count; i++) printf "%s", rows[i]
      for (i = 1; i <= shapes; i++) if (!(order[i] in printed)) printf "%s", replaced[order[i]]
    }' new="$2" "$2" - <<<"$rows"
}

# Leaves out the rows of a step whose number is another step's by now.
of_todays_steps() {
  local todays=(steps/[0-9]*/)
  awk -F '[",]' -v todays="${todays[*]%/}" '
    BEGIN { for (i = split(todays, step, " "); i > 0; i--) { sub(/.*\//, "", step[i]); is[step[i]]; taken[substr(step[i], 1, 3)] } }
    { name = $1 == "" ? $2 : $1 }
    name !~ /^[0-9][0-9]_/ || name in is || !(substr(name, 1, 3) in taken)'
}

publish() { # file of results/, folder of plots/data
  local published=$2/${1##*/} text
  mkdir -p "$2"
  case ${1##*/} in
  counts.csv)
    scripts/record_counts.sh "$2" <"$1" >/dev/null
    text=$(set -e; of_todays_steps <"$published")
    write_whole "$published" <<<"$text"
    ;;
  bugs.csv | mutants.csv | counts-lines.csv | variants*.csv | substeps*.csv)
    text=$(set -e; scripts/merge_rows.sh "$published" "$1" | of_todays_steps)
    write_whole "$published" <<<"$text"
    ;;
  bench*.csv | peers*.csv | shapes*.csv | spread*.csv | waves*.csv | decode*.csv)
    text=$(set -e; join_shapes "$published" "$1" | of_todays_steps)
    write_whole "$published" <<<"$text"
    ;;
  *) of_todays_steps <"$1" | write_whole "$published" ;;
  esac
  echo "published: $published"
}

devices=()
for folder in "${folders[@]}"; do
  found=no
  for file in "$folder"/*.csv; do
    [ -f "$file" ] || continue
    case ${file##*/} in
    "$name".csv | "$name"-samples.csv) ;;
    *) [ -z "$name" ] || continue ;;
    esac
    case $file in
    results/emulated-*/bugs.csv | results/emulated-*/mutants.csv | results/emulated-*/counts-lines.csv) ;;
    results/emulated-*) continue ;;
    esac
    publish "$file" "plots/data/${folder##*/}"
    found=yes
  done
  if [ $found = yes ]; then devices+=("${folder##*/}"); fi
done
if [ ${#devices[@]} -eq 0 ]; then
  echo "error: there is nothing to publish, as there is no results/${1:-<GPU>}/${name:-*}.csv of a GPU, nor a" \
    "bugs.csv, mutants.csv or counts-lines.csv of the emulator: make ladder on a GPU, or make bugs, records one" >&2
  exit 2
fi
scripts/tables.sh
for device in "${devices[@]}"; do scripts/plot.sh --afterwards all "$device"; done
scripts/claims.sh || echo "publish: the texts above are older than the record: make claims-check says when none is left"
echo "publish: look at git diff, and commit plots/data with the charts and the documents"
