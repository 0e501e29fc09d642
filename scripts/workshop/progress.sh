#!/usr/bin/env bash
# Prints which exercises are begun and which pass: scripts/workshop/progress.sh STEP... A verdict of check counts
# for the file as it was then: it is kept with the file's hash.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh

verdict() { # STEP FILE
  local word hash device date
  if ! read -r word hash device date 2>/dev/null <"$work/.state/$1/check"; then
    echo '-'
  elif [ "$hash" != "$(file_hash "$2")" ]; then
    echo "changed since it $word"
  else
    echo "$word on the $device, $date"
  fi
}

passed=0
{
  printf 'step\tstarted\tleft\thints\tcheck\n'
  for step in "$@"; do
    file=$(work_file "$step")
    hints=$(cat "$work/.state/$step/hints" 2>/dev/null || echo -)
    if [ -f "$file" ]; then
      left=$(parts_left "$file" | wc -l)
      if [ "$left" -gt 0 ]; then left="$left of $(parts_in_all "$file")"; fi
      printf '%s\t%s\t%s\t%s\t%s\n' "$step" "$(cat "$work/.state/$step/started" 2>/dev/null || echo yes)" \
        "$left" "$hints" "$(verdict "$step" "$file")"
    else
      printf '%s\t-\t-\t%s\t-\n' "$step" "$hints"
    fi
  done
} | awk -f scripts/align.awk
for step in "$@"; do
  file=$(work_file "$step")
  if [ -f "$file" ] && [[ $(verdict "$step" "$file") == passed* ]]; then passed=$((passed + 1)); fi
done
echo "progress: $passed of $# steps pass"
