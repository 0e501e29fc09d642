#!/bin/bash -p
# Says whose files are built, and how far they are written: scripts/workshop/source.sh STEP... PART=2 says which part.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
for step in "$@"; do
  file=$(work_file "$step")
  left=$(parts_left "$file" | wc -l)
  note=
  if [ -n "${PART:-}" ]; then
    note=", part $PART, with the lab's other parts"
    if [ -n "$(say_part_left "$file" "$PART")" ]; then note=", part $PART, which is still to be written, with the lab's other parts"; fi
  elif [ "$left" -gt 0 ]; then
    all=$(parts_in_all "$file")
    note=", your own ($left of $all part$([ "$all" -eq 1 ] || echo s) still to be written)"
  else
    note=", your own (LAB=1 takes the lab's)"
  fi
  echo "source: $file$note"
done
