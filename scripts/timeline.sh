#!/usr/bin/env bash
# Shows what each warp of a step does: scripts/timeline.sh gpu RECORD.csv | scripts/timeline.sh cpu PROGRAM [OPTION...]
# On a GPU: the record of common/tools/timeline as a chart in the terminal, and beside it as a trace for Perfetto. On the
# emulator: the order of what the warps of the first block do, of a small problem unless the options say otherwise.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
make_scratch
device=$1
shift

if [ "$device" = gpu ]; then
  read_record() { awk -f scripts/csv.awk -f scripts/timeline.awk -f "scripts/timeline_$1.awk" "${@:3}" "$2"; }
  width=${COLUMNS:-$(tput cols 2>/dev/null </dev/tty || echo 130)}
  read_record text "$1" -v columns=$((width > 60 ? width - 18 : 60))
  read_record trace "$1" >"$scratch/trace.json"
  write_whole "${1%.csv}.json" <"$scratch/trace.json"
  echo "written: ${1%.csv}.json, which https://ui.perfetto.dev opens"
  exit
fi

program=$1
shift
given=" $* "
for option in '--batch 1' '--heads 1' '--seq 512' '--dim 64'; do # what the reader has not chosen
  case $given in
  *" ${option% *}"[\ =-]*) ;;
  *) set -- "$@" ${option% *} "${option#* }" ;;
  esac
done
status=0
EMU_ORDER=$scratch/order.csv scripts/run.sh "$program" "$@" --no-check --no-time >"$scratch/said" || status=$?
if [ -s "$scratch/order.csv" ]; then
  sed -n '/^step  /p; /^shape /p' "$scratch/said"
  awk -f scripts/csv.awk -f scripts/order_text.awk "$scratch/order.csv" >"$scratch/text"
  cat "$scratch/text"
  [ -s "$scratch/text" ] || echo "No warp of the first block waits for another, or for a copy: there is no order to show."
fi
exit $status
