#!/bin/bash -p
# Prints which exercises are begun and which pass, which bugs were hunted, and what comes next:
# scripts/workshop/progress.sh STEP... With NAME=anna it also writes the file that a leader collects. A verdict of check counts for the file as it was then: it is kept with the file's
# hash.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh

told_sanitized() { # STEP
  case $(sanitized "$1") in
  clean) echo 'sanitized' ;;
  faults) echo 'but sanitize finds faults' ;;
  *) echo 'not sanitized' ;;
  esac
}

# A verdict in words.
told() { # STEP
  local word device date
  read -r word device date <<<"$(verdict "$1")"
  case $word in
  '') echo '-' ;;
  right) echo "right on the $device, $date, and not all goals met" ;;
  changed) echo "changed since it ${device/quick/passed the quick tests}" ;;
  quick) echo "passed the quick tests on the $device, $date" ;;
  passed) echo "passed on the $device, $date, $(told_sanitized "$1")" ;;
  *) echo "$word on the $device, $date" ;;
  esac
}

if [ -n "${NAME:-}" ]; then scripts/workshop/export.sh "$NAME" "$@"; fi
passed=0
quick=0
{
  printf 'step\tstarted\tleft\thints\tcheck\n'
  for step in "$@"; do
    file=$(work_file "$step")
    hints=$(cat "$work/.state/$step"/hints.* 2>/dev/null | awk '{ sum += $1 } END { print sum ? sum : "-" }')
    if [ -f "$file" ]; then
      left=$(parts_left "$file" | wc -l)
      if [ "$left" -gt 0 ]; then left="$left of $(parts_in_all "$file")"; fi
      printf '%s\t%s\t%s\t%s\t%s\n' "$step" "$(cat "$work/.state/$step/started" 2>/dev/null || echo yes)" \
        "$left" "$hints" "$(told "$step")"
    else
      printf '%s\t-\t-\t%s\t-\n' "$step" "$hints"
    fi
  done
} | awk -f scripts/align.awk
for step in "$@"; do
  if [ ! -f "$(work_file "$step")" ]; then continue; fi
  case $(verdict "$step") in
  passed*) passed=$((passed + 1)) ;;
  quick*) quick=$((quick + 1)) ;;
  esac
done
scripts/workshop/hunt.sh progress
echo "progress: $passed of $# steps pass$([ $quick -eq 0 ] || echo ", $quick pass the quick tests")"
scripts/workshop/next.sh
