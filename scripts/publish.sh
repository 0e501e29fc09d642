#!/usr/bin/env bash
# Puts what this machine has recorded into the published record: scripts/publish.sh [DEVICE_FOLDER [NAME]]
# Copies results/<device>/*.csv, or NAME.csv alone, to plots/data/<device>, and draws the charts and writes the
# tables again. A file replaces the whole published one, but bugs.csv, mutants.csv, counts.csv, counts-lines.csv and the
# files of variants are merged, so that the published rows of other steps, sources and shapes stay. Of the emulator only
# bugs.csv, mutants.csv and counts-lines.csv, which the lab book shows, are published, because its other records can be
# made quickly on any machine. Exit status 2 when there is nothing to publish.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
folders=(results/*)
if [ -n "${1:-}" ]; then folders=("results/$1"); fi
name=${2:-}

# Prints the new file, and those rows of the old one whose first column does not occur in the new one.
join_rows() { # published file, which need not be there, new file
  local old=$1
  [ -f "$old" ] || old=/dev/null
  head -n 1 "$2"
  { awk -F , 'FNR == NR { replaced[$1]; next } FNR > 1 && !($1 in replaced)' "$2" "$old" && tail -n +2 "$2"; } |
    sort --stable --field-separator=, --key=1,1
}

publish() { # file of results/, folder of plots/data
  local published=$2/${1##*/} text
  mkdir -p "$2"
  case ${1##*/} in
  counts.csv) scripts/record_counts.sh "$2" <"$1" >/dev/null ;;
  bugs.csv | mutants.csv | counts-lines.csv | variants*.csv)
    text=$(set -e; join_rows "$published" "$1")
    write_whole "$published" <<<"$text"
    ;;
  *) write_whole "$published" <"$1" ;;
  esac
  echo "published: $published"
}

devices=()
for folder in "${folders[@]}"; do
  found=no
  for file in "$folder"/*.csv; do
    if ! [ -f "$file" ] || [ "${file##*/}" != "${name:-$(basename "$file" .csv)}.csv" ]; then continue; fi
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
for device in "${devices[@]}"; do scripts/plot.sh all "$device"; done
echo "publish: look at git diff, and commit plots/data with the charts and the documents"
