#!/usr/bin/env bash
# Draws charts from recorded data: scripts/plot.sh [--dumb] "CHART..." [DEVICE_FOLDER [NAME]]
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
# A chart whose data is missing says so. Without gnuplot: a sentence, and exit status 0.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/sources.sh
. scripts/sources.sh

terminals="svg png"
if [ "${1-}" = --dumb ]; then
  terminals=dumb
  shift
fi
charts=${1:-all}
device=${2:-*}
name=${3-}
all=$(grep -l '^# Title:' plots/*.gp | sed 's|plots/\(.*\)\.gp|\1|' | tr '\n' ' ')
if [ "$charts" = all ]; then charts=$all; fi

if ! command -v gnuplot >/dev/null; then
  echo "plot: no chart is drawn, gnuplot is not installed (make deps installs it; make plots draws later)"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Draws $scratch/data.gp as a file for each terminal.
render() { # output without ending
  local terminal script=$chart
  if grep -q '^nothing = ' "$scratch/data.gp"; then script=missing; fi
  for terminal in $terminals; do
    gnuplot -e "terminal='$terminal'; output='$1.part'; data='$scratch/data.gp'" "plots/$script.gp"
    [ "$terminal" = dumb ] || mv "$1.part" "$1.$terminal"
  done
  [ "$terminals" = dumb ] || echo "written: $1.svg, $1.png"
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
    if ! [ -f "$1/$file" ]; then missing+="\\n$file of $1: $command records it"; fi
  done < <(sources "plots/$chart.gp" Data)
  if [ -n "$missing" ]; then
    printf '%s = "%s"\n' heading "$(setting "plots/$chart.gp" Title)" subtitle "" corner "$(basename "$1")" note "" \
      nothing "There is nothing to draw yet. Missing:\\n$missing" >"$scratch/data.gp"
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
  [ "$terminals" = dumb ] || rm -f "$output.svg" "$output.png" # of a time when the chart had no pages, or no data
  while IFS=$'\t' read -r -a page; do
    suffix=
    for value in "${page[@]}"; do # head_dim=64 dtype=fp16: -dim64-fp16
      value=${value/head_dim=/dim}
      suffix+=-${value#*=}
    done
    awk -f scripts/csv.awk -f scripts/text.awk -f plots/chart.awk -f "plots/$chart.awk" \
      -v title="$(setting "plots/$chart.gp" Title)" -v without="$without" \
      "${page[@]}" "${files[@]}" >"$scratch/data.gp"
    render "$output$suffix"
  done < <(awk -f scripts/csv.awk -f plots/pages.awk -v columns="$(setting "plots/$chart.gp" Each)" "${files[0]}")
}

draw_device() { # folder of data
  local kind=gpu folder=plots/${1##*/} path first found=no made_for
  case $folder in plots/emulated-*) kind=emulator ;; esac
  made_for=$(setting "plots/$chart.gp" On)
  if [ "${made_for:-$kind}" != $kind ]; then return; fi
  mkdir -p "$folder"
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

for folder in plots/data/$device; do
  if ! [ -d "$folder" ]; then
    echo "error: there is no $folder to draw: make ladder records a first file" >&2
    exit 2
  fi
  for chart in $charts; do
    if ! [ -f "plots/$chart.awk" ]; then
      echo "error: there is no chart '$chart': there are $all" >&2
      exit 2
    fi
    draw_device "$folder"
  done
done
