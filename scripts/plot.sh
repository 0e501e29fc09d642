#!/usr/bin/env bash
# Draws charts from recorded data: scripts/plot.sh CHART [DEVICE_FOLDER [NAME]]
# plots/data/<device>/<name>.csv gives plots/<device>/<name>.svg and .png, and a text chart here.
# Without a device: all that have data. Without gnuplot: says so, and leaves the data as it is.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
chart=$1
device=${2:-*}
name=${3:-$chart*}

if ! command -v gnuplot >/dev/null; then
  echo "plot: no chart is drawn, gnuplot is not installed (make deps installs it; make plots draws later)"
  exit 0
fi

draw() { # csv, terminal, output
  local script=plots/$chart.gp device_line commit
  device_line=$(sed -n 's/^# before: device = \([^,]*\).*/\1/p' "$1" | head -n 1)
  commit=$(sed -n 's/^# before: commit = \([^,]*\).*/\1/p' "$1" | head -n 1)
  case $device_line in Emulated*) script=plots/${chart}_counts.gp ;; esac
  shape=$(awk -F, '!/^#/ && !/^step,/ { printf "batch %s, heads %s, seq %s, dim %s, %s%s", $5, $6, $8, $10, $4, $11 == 1 ? ", causal" : ""; exit }' "$1")
  gnuplot -e "terminal='$2'; output='$3.part'; csv='$1'; caption='$shape; $device_line, commit $commit'" "$script"
  [ "$2" = dumb ] || mv "$3.part" "$3"
}

found=no
for csv in plots/data/$device/$name.csv; do
  [ -f "$csv" ] || continue
  found=yes
  folder=plots/$(basename "$(dirname "$csv")")
  file=$folder/$(basename "$csv" .csv)
  mkdir -p "$folder"
  draw "$csv" svg "$file.svg"
  draw "$csv" png "$file.png"
  draw "$csv" dumb -
  echo "written: $file.svg, $file.png"
done
if [ "$found" = no ]; then
  echo "error: there is no plots/data/$device/$name.csv to draw: run make ladder first" >&2
  exit 2
fi
