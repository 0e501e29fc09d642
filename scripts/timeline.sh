#!/bin/bash -p
# Shows what each warp of a step does: scripts/timeline.sh gpu RECORD.csv | scripts/timeline.sh cpu PROGRAM [OPTION...]
# On a GPU: the record of common/tools/timeline as a chart in the terminal, and beside it as a trace for Perfetto. On the
# emulator: the order of what the warps of one block do, of a small problem unless the options say otherwise: a page of
# it, or COUNT lines, or with COUNT=all the whole; of block 0 or of BLOCK=x,y,z, of the last kernel that the step launches
# or of KERNEL.
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
count=${COUNT:-60}
if [ "$count" = all ]; then count=0; elif ! [[ $count =~ ^[1-9][0-9]*$ ]]; then
  echo "error: COUNT is \"$count\": give the number of lines, such as COUNT=100, or COUNT=all" >&2
  exit 2
fi
IFS=, read -r x y z <<<"${BLOCK:-0}"
for number in "$x" "${y:=0}" "${z:=0}"; do
  if ! [[ $number =~ ^[0-9]+$ ]]; then
    echo "error: \"$number\" is no number: give BLOCK=x,y,z, such as BLOCK=1,0,2" >&2
    exit 2
  fi
done
given=" $* "
for option in '--batch 1' '--heads 1' '--seq 512' '--dim 64'; do # what the reader has not chosen
  case $given in
  *" ${option% *}"[\ =-]*) ;;
  *) set -- "$@" ${option% *} "${option#* }" ;;
  esac
done
status=0
EMU_ORDER=$scratch/order.csv EMU_ORDER_BLOCK=$x,$y,$z EMU_ORDER_KERNEL=${KERNEL-} scripts/run.sh "$program" "$@" --no-check --no-time >"$scratch/said" || status=$?
if [ -s "$scratch/order.csv" ]; then
  sed -n '/^step  /p; /^shape /p' "$scratch/said"
  sed -n 's/^# kernel /kernel     /p' "$scratch/order.csv"
  awk -f scripts/csv.awk -f scripts/order_text.awk -v most="$count" "$scratch/order.csv" >"$scratch/text"
  cat "$scratch/text"
  [ -s "$scratch/text" ] || echo "No warp of this block waits for another, or for a copy: there is no order to show."
elif [ $status = 0 ]; then
  echo "error: the step has launched no block ($x,$y,$z)${KERNEL:+ of a kernel $KERNEL} for this problem" >&2
  status=2
fi
exit $status
