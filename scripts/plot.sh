#!/usr/bin/env bash
# Draws charts from recorded data: scripts/plot.sh [--dumb] [--data FOLDER] "CHART..." [DEVICE_FOLDER [NAME]]
#
# A chart is plots/CHART.gp, which draws what plots/CHART.awk makes of the data. The script's first
# comment says what it takes:
#   # Title: ...
#   # Data: bench.csv (make bench)    files of plots/data/<device>, and what records them: all are needed.
#                                     When the first is like ladder*.csv, each such file gets a chart.
#   # With: peers.csv (make peers)    files that add to the chart where they are there; without a command
#                                     nothing is said where they are not
#   # Each: dtype head_dim            a chart for every combination of these columns
#   # On: gpu                         or emulator: only for such devices
#
# Writes plots/<device>/<chart>.svg and .png; --dumb draws in the terminal and writes nothing. CHART is
# "all" for all; without a device, all that have data are drawn. With NAME, the first file is NAME.csv.
# A chart whose data is missing says so. With --data the records are those of FOLDER/<device>, such as
# results/<device>, the charts are written beside them, and only those that have data. Without gnuplot: a
# sentence, and exit status 0.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/sources.sh
. scripts/sources.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh

terminals="svg png"
data=plots/data
while true; do
  case ${1-} in
  --dumb) terminals=dumb && shift ;;
  --data) data=$2 && shift 2 ;;
  *) break ;;
  esac
done
charts=${1:-all}
device=${2:-*}
name=${3-}
all=$(grep -l '^# Title:' plots/*.gp | sed 's|plots/\(.*\)\.gp|\1|' | tr '\n' ' ')
if [ "$charts" = all ]; then charts=$all; fi

if ! command -v gnuplot >/dev/null; then
  echo "plot: no chart is drawn, gnuplot is not installed (make deps installs it; make plots draws later)"
  exit 0
fi

# What gnuplot runs, it runs of its own scripts alone: in its single quotes nothing is, and a quote is doubled.
gnuplot_text() { printf "'%s'" "${1//\'/\'\'}"; }

# Only gnuplot needs to know that × is one letter. Without the locale it draws the same, and complains of degrees.
run_gnuplot() {
  env LC_ALL=C.UTF-8 gnuplot "$@" 2>"$scratch/said" || { cat "$scratch/said" >&2 && return 1; }
  grep -v 'iconv failed to convert degree sign' "$scratch/said" >&2 || true
}

# Draws $scratch/data.gp as a file for each terminal.
render() { # output without ending
  local terminal script=$chart
  if grep -q '^nothing = ' "$scratch/data.gp"; then script=missing; fi
  [ "$terminals" = dumb ] || mkdir -p "${1%/*}"
  for terminal in $terminals; do
    run_gnuplot -e "terminal='$terminal'; output=$(gnuplot_text "$scratch/chart"); data=$(gnuplot_text "$scratch/data.gp")" \
      "plots/$script.gp"
    [ "$terminal" = dumb ] || write_whole "$1.$terminal" <"$scratch/chart"
  done
  [ "$terminals" = dumb ] || echo "written: $1.svg, $1.png"
}

# What CHART.awk makes of the data, for gnuplot.
chart_data() { # CHART ARGUMENT...
  awk -f scripts/csv.awk -f scripts/text.awk -f plots/chart.awk -f "plots/$1.awk" \
    -v title="$(setting "plots/$chart.gp" Title)" "${@:2}"
}

# The chart of one first file, or its pages; or the page that says what is missing.
draw() { # folder of data, folder of charts, the first file's name
  local file command missing='' without='' suffix page value first=$3 output=$2/$chart
  local -a files=()
  while IFS=$'\t' read -r file command; do
    if [ "$file" != "${file%\**}" ]; then # ladder-bf16.csv of ladder*.csv: the chart ends in -bf16
      suffix=${first%.csv}
      suffix=${suffix#"${file%\**}"}
      output+=${suffix:+-${suffix#-}}
      file=$first
    fi
    files+=("$1/$file")
    if ! [ -f "$1/$file" ]; then missing+="\\n$file of $1: $command records it, make publish puts it there"; fi
  done < <(sources "plots/$chart.gp" Data)
  if [ -n "$missing" ]; then
    if [ "$data" != plots/data ] || [ $kind = emulator ]; then return; fi
    LAB_DEVICE=${1##*/} LAB_MISSING=$missing chart_data missing >"$scratch/data.gp"
    render "$output"
    return
  fi
  while IFS=$'\t' read -r file command; do
    if [ -f "$1/$file" ]; then
      files+=("$1/$file")
    elif [ -n "$command" ]; then
      without+="${without:+, }$file ($command)"
    fi
  done < <(sources "plots/$chart.gp" With)
  awk -f scripts/csv.awk -f plots/pages.awk -v columns="$(setting "plots/$chart.gp" Each)" "${files[0]}" >"$scratch/pages"
  while IFS=$'\t' read -r -a page; do
    suffix=
    for value in "${page[@]}"; do # head_dim=64 dtype=fp16: -dim64-fp16
      value=${value/head_dim=/dim}
      suffix+=-${value#*=}
    done
    chart_data "$chart" -v without="$without" "${page[@]}" "${files[@]}" >"$scratch/data.gp"
    render "$output$suffix"
  done <"$scratch/pages"
  # Of a time when the chart had no pages, or no data.
  if [ "$terminals" != dumb ] && [ -n "$suffix" ]; then rm -f "$output.svg" "$output.png"; fi
}

draw_device() { # folder of data
  local kind=gpu folder=plots/${1##*/} path first found=no made_for
  if [ "$data" != plots/data ]; then folder=$1; fi
  case ${1##*/} in emulated-*) kind=emulator ;; esac
  made_for=$(setting "plots/$chart.gp" On)
  if [ "${made_for:-$kind}" != $kind ]; then return; fi
  first=$(sources "plots/$chart.gp" Data | sed -n '1s/\t.*//p')
  if [ -n "$name" ]; then
    case $first in *\**) first=$name.csv ;; esac
  fi
  for path in "$1"/$first; do
    if [ -f "$path" ]; then
      found=yes
      draw "$1" "$folder" "${path##*/}"
    fi
  done
  [ $found = yes ] || draw "$1" "$folder" "${first/\*/}"
}

for folder in "$data"/$device; do
  if ! [ -d "$folder" ]; then
    echo "error: there is no $folder to draw: make ladder records a first file" >&2
    exit 2
  fi
  for chart in $charts; do
    case " $all" in
    *" $chart "*) ;;
    *)
      echo "error: there is no chart '$chart': there are $all" >&2
      exit 2
      ;;
    esac
    draw_device "$folder"
  done
done
