#!/bin/bash -p
# Draws charts from recorded data: scripts/plot.sh [--afterwards] [--dumb] [--data FOLDER] "CHART..." [DEVICE_FOLDER [NAME]]
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
#   # Awk: ../scripts/timeline        a file of awk functions that CHART.awk calls, without .awk
#   # Takes: STEPS BASE WITH AXIS    what a reader may choose of the chart, see below
#
# Writes plots/<device>/<chart>.svg; --dumb draws in the terminal and writes nothing. CHART is
# "all" for all; without a device, all that have data are drawn. With NAME, the first file is NAME.csv.
# A chart whose data is missing says so, unless another device that is drawn has it. With --data the records are those of
# FOLDER/<device>, such as results/<device>, the charts are written beside them, and only those that have data. Without
# gnuplot: a sentence, and exit status 0. Where gnuplot fails: exit status 1; with --afterwards, for verbs that have done
# their work before they draw, a sentence and 0. All charts of a published device: pictures that are no more drawn are removed.
#
# The reader chooses with --steps 07,10 (only these, with the peers), --base sdpa_cudnn (what is 1 in a chart of
# speed-ups), --with results/... (a file or folder of the reader's own, whose steps are drawn beside the record) and
# --axis linear or logarithmic. Such a chart is results/<device>/<chart>-chosen.svg.
# A file that is empty or wrong: exit status 2, and nothing is written.
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

terminal=svg
afterwards=''
data=plots/data
drawn=() # the pictures so far: they are put in their places when all could be drawn
empty='' # why a page of what was chosen holds nothing
chosen='' with='''' axis='' steps='' base=''
while true; do
  case ${1-} in
  --afterwards) afterwards=yes && shift ;;
  --dumb) terminal=dumb && shift ;;
  --data) data=$2 && shift 2 ;;
  --steps) steps=$2 chosen+=" STEPS" && shift 2 ;;
  --base) base=$2 chosen+=" BASE" && shift 2 ;;
  --with) with=$2 chosen+=" WITH" && shift 2 ;;
  --axis) axis=$2 chosen+=" AXIS" && shift 2 ;;
  *) break ;;
  esac
done
charts=${1:-all}
device=${2:-*}
name=${3-}
whole=no # whether everything is drawn that the folder of a device holds

refuse() {
  echo "error: $1" >&2
  exit 2
}

# Whether a reader may choose of a chart what was chosen.
takes() { # CHART
  local setting takes
  takes=" $(setting "plots/$1.gp" Takes) "
  for setting in $chosen; do
    case $takes in *" $setting "*) ;; *) return 1 ;; esac
  done
}

all=$(grep -l '^# Title:' plots/*.gp | sed 's|plots/\(.*\)\.gp|\1|' | tr '\n' ' ')
if [ "$charts" = all ]; then
  charts=
  for chart in $all; do if takes "$chart"; then charts+="$chart "; fi; done
  if [ "$data$chosen$name" = plots/data ]; then whole=yes; fi
fi
for chart in $charts; do
  case " $all" in *" $chart "*) ;; *) refuse "there is no chart '$chart': there are $all" ;; esac
  settings=$(setting "plots/$chart.gp" Takes)
  takes "$chart" || refuse "the chart $chart takes no$chosen: it takes ${settings:-none of the settings}"
done
case $axis in '' | linear | logarithmic) ;; *) refuse "AXIS is $axis: give it linear or logarithmic" ;; esac
if [ -n "$with" ] && ! [ -e "$with" ]; then
  refuse "there is no $with to draw beside the record: WITH is a file or folder of your own, such as results/<GPU>"
fi

if ! command -v gnuplot >/dev/null; then
  echo "plot: no chart is drawn, gnuplot is not installed (make deps installs it; make plots draws later)"
  exit 0
fi

# What gnuplot runs, it runs of its own scripts alone: in its single quotes nothing is, and a quote is doubled.
gnuplot_text() { printf "'%s'" "${1//\'/\'\'}"; }

# Only gnuplot needs to know that × is one letter. Without the locale it draws the same, and complains of degrees. One that
# is there need not run, such as without a library that it needs; that ends the script.
run_gnuplot() {
  if ! env LC_ALL=C.UTF-8 gnuplot "$@" 2>"$scratch/said"; then
    cat "$scratch/said" >&2
    if [ -n "$afterwards" ]; then
      echo "plot: no chart is drawn, gnuplot fails, as it says above; what was recorded stays (make plots draws later)"
      exit 0
    fi
    echo "error: no chart is drawn: gnuplot fails, as it says above: where it does not run, install it anew" >&2
    exit 1
  fi
  grep -v 'iconv failed to convert degree sign' "$scratch/said" >&2 || true
}

# Draws $scratch/data.gp as OUTPUT.svg, with a title and a description for those who do not see it, or in the terminal.
render() { # output without ending
  local script=$chart
  if grep -q '^nothing = ' "$scratch/data.gp"; then
    if [ -n "$chosen" ]; then
      empty=$(sed -n "/^nothing = '/{s///; s/'$//; s/''/'/g; p}" "$scratch/data.gp")
      return
    fi
    script=missing
  fi
  run_gnuplot -e "terminal='$terminal'; output=$(gnuplot_text "$scratch/chart"); data=$(gnuplot_text "$scratch/data.gp"); \
    described=$(gnuplot_text "$scratch/described")" "plots/$script.gp"
  drawn+=("$1.svg")
  if [ $terminal = svg ]; then
    awk -f scripts/describe_svg.awk "$scratch/described" "$scratch/chart" >"$scratch/${#drawn[@]}.svg"
  fi
}

# What CHART.awk makes of the data, for gnuplot.
chart_data() { # CHART ARGUMENT...
  local -a programs=(-f plots/chart.awk -f plots/choice.awk)
  local part
  part=$(setting "plots/$1.gp" Awk)
  if [ -n "$part" ]; then programs+=(-f "plots/$part.awk"); fi
  for part in lines rows; do
    if grep -q "^load \"plots/$part.gp\"" "plots/$1.gp"; then programs+=(-f "plots/$part.awk"); fi
  done
  awk -f scripts/csv.awk -f scripts/text.awk "${programs[@]}" -f "plots/$1.awk" -v title="$(setting "plots/$chart.gp" Title)" \
    -v steps_chosen="$steps" -v base_chosen="$base" -v axis_chosen="$axis" "${@:2}"
}

pages_of() { awk -f scripts/csv.awk -f plots/pages.awk -v columns="$(setting "plots/$chart.gp" Each)" "$@"; }

# The reader's own files for a chart: WITH itself, or those of the folder that have the names of the chart's files.
own_files() { # the first file's name
  local file command
  if [ -f "$with" ]; then
    realpath "$with"
    return
  fi
  { echo "$1" && sources "plots/$chart.gp" Data | tail -n +2 && sources "plots/$chart.gp" With; } |
    while IFS=$'\t' read -r file command; do
      case $file in ceilings.csv | quoted.csv) continue ;; esac
      if [ -f "$with/$file" ]; then realpath "$with/$file"; fi
    done
}

# Whether another of the devices that are drawn has the chart. Then no page need say how it is recorded.
drawn_elsewhere() { # folder of data
  local folder pattern
  pattern=$(sources "plots/$chart.gp" Data | sed -n '1s/\t.*//p')
  for folder in "$data"/$device; do
    if [ "$folder" != "$1" ] && [ -n "$(records "$folder" "$pattern")" ]; then return; fi
  done
  return 1
}

# The chart of one first file, or its pages; or the page that says what is missing.
draw() { # folder of data, folder of charts, the first file's name
  local file command missing='' without='' suffix page value own_drawn='' first=$3 output=$2/$chart
  local -a files=() own=()
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
    if [ "$data" != plots/data ] || [ $kind = emulator ] || drawn_elsewhere "$1"; then return; fi
    # No step is drawn here, so none of those chosen is absent.
    LAB_DEVICE=${1##*/} LAB_MISSING=$missing steps='' chart_data missing >"$scratch/data.gp"
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
  pages_of "${files[0]}" >"$scratch/pages"
  if [ -n "$with" ]; then
    mapfile -t own < <(own_files "$first")
    if [ ${#own[@]} -eq 0 ]; then refuse "$with holds no file for the chart $chart: it is drawn of $first"; fi
    pages_of "${own[@]}" >"$scratch/own_pages"
    grep -Fx -f "$scratch/own_pages" "$scratch/pages" >"$scratch/both" ||
      refuse "$with has none of the shapes that $1/$first has: the same $(setting "plots/$chart.gp" Each | sed 's/ / and /')"
    mv "$scratch/both" "$scratch/pages"
    awk -f scripts/csv.awk -f scripts/text.awk -f plots/choice.awk -f plots/own.awk -v steps_chosen="$steps" \
      "${files[@]}" own=1 "${own[@]}" || exit 2
    files+=(own=1 "${own[@]}")
  fi
  if [ -n "$chosen" ]; then output=results/${1##*/}/${output##*/}; fi
  while IFS=$'\t' read -r -a page; do
    suffix=
    for value in "${page[@]}"; do # head_dim=64 dtype=fp16: -dim64-fp16
      value=${value/head_dim=/dim}
      suffix+=-${value#*=}
    done
    chart_data "$chart" -v without="$without" "${page[@]}" "${files[@]}" >"$scratch/data.gp" || {
      [ $? -eq 3 ] || exit 2
      empty="no step of '$steps' has a usable row in $1/$first"
      continue
    }
    grep -o 'Nothing usable is recorded for step [^.]*' "$scratch/data.gp" >>"$scratch/notes" || true
    if grep -q -F '(own)' "$scratch/data.gp"; then own_drawn=yes; fi
    render "$output$suffix${chosen:+-chosen}"
  done <"$scratch/pages"
  if [ -n "$with" ] && [ -z "$own_drawn$empty" ]; then
    refuse "$with has no usable row for the chart $chart: the columns batch, heads, kv_heads, seq_q, seq_kv, head_dim,\
 dtype and causal name no problem that $1/$first has as well"
  fi
  if [ -n "$suffix" ]; then obsolete+=("$output.svg"); fi # of a time when the chart had no pages, or no data
}

# The first files of a chart in a folder of data, one a line; none where there is none, or the chart is not for it.
first_files() { # folder of data
  local kind=gpu made_for first
  case ${1##*/} in emulated-*) kind=emulator ;; esac
  made_for=$(setting "plots/$chart.gp" On)
  if [ "${made_for:-$kind}" != $kind ]; then return; fi
  first=$(sources "plots/$chart.gp" Data | sed -n '1s/\t.*//p')
  case $first in
  *\**) if [ -n "$name" ]; then first=$name.csv; elif [ -n "$with" ]; then first=${first/\*/}; fi ;;
  esac
  records "$1" "$first" | sed 's|.*/||' | grep . || echo "${first/\*/}"
}

draw_device() { # folder of data
  local kind=gpu folder=plots/${1##*/} first
  if [ "$data" != plots/data ]; then folder=$1; fi
  case ${1##*/} in emulated-*) kind=emulator ;; esac
  while IFS= read -r -u 3 first; do draw "$1" "$folder" "$first"; done 3< <(first_files "$1")
}

# Looks at all files that the charts are drawn of, before the first is drawn.
look_at() { # folder of data
  local first file command
  for chart in $charts; do
    first_files "$1" | while IFS= read -r first; do
      printf '%s\t%s\n' "$1/$first" "$(sources "plots/$chart.gp" Data | sed -n '1s/.*\t//p')"
      { sources "plots/$chart.gp" Data | tail -n +2 && sources "plots/$chart.gp" With; } | sed "s|^|$1/|"
      if [ -n "$with" ]; then own_files "$first"; fi
    done
  done | sort -u -t $'\t' -k 1,1 >"$scratch/files"
  while IFS=$'\t' read -r file command; do
    if [ -f "$file" ]; then awk -f scripts/csv.awk -f plots/columns.awk -v command="$command" "$file"; fi
  done <"$scratch/files"
}

for folder in "$data"/$device; do
  if ! [ -d "$folder" ]; then refuse "there is no $folder to draw: make ladder records a first file"; fi
  look_at "$folder"
done
obsolete=()
for folder in "$data"/$device; do
  for chart in $charts; do draw_device "$folder"; done
  if [ $whole = yes ]; then obsolete+=("plots/${folder##*/}"/*.svg "plots/${folder##*/}"/*.png); fi
done
if [ -n "$empty" ] && [ ${#drawn[@]} -eq 0 ]; then refuse "nothing is drawn of what was chosen: $empty"; fi
if [ -f "$scratch/notes" ]; then sort -u "$scratch/notes" | sed 's/^/note: /'; fi
if [ ${#drawn[@]} -eq 0 ] && [ "$device" = '*' ]; then
  refuse "nothing is drawn: no folder of $data has what ${charts% } is drawn of"
fi
if [ $terminal = dumb ]; then exit; fi
declare -A is_drawn
for ((i = 0; i < ${#drawn[@]}; i++)); do
  mkdir -p "${drawn[i]%/*}"
  write_whole "${drawn[i]}" <"$scratch/$((i + 1)).svg"
  echo "written: ${drawn[i]}"
  is_drawn[${drawn[i]}]=yes
done
for picture in "${obsolete[@]}"; do
  if [ -f "$picture" ] && [ -z "${is_drawn[$picture]-}" ]; then rm "$picture" && echo "removed: $picture"; fi
done
