#!/bin/bash -p
# Writes how far a participant is to work/progress-NAME.csv: scripts/workshop/export.sh NAME STEP...
# A line for each exercise that is begun: name, step, parts, parts that are left, hints taken, verdict, date of the
# verdict; and one for the hunts, with the step "hunt", how many were handed out and how many are not fixed.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
name=$1
shift
if [[ $name == *[,\"/[:cntrl:]]* ]]; then
  echo "error: NAME is \"$name\": it becomes the name of a file and a column of it, so give it no comma, quote, slash or" \
    "line break" >&2
  exit 2
fi
need_writable "$work"
file=$work/progress-$name.csv
text=$(
  echo 'name,step,parts,left,hints,verdict,date'
  for step in "$@"; do
    if [ ! -f "$(work_file "$step")" ]; then continue; fi
    read -r word _ date <<<"$(verdict "$step")"
    hints=$(cat "$work/.state/$step"/hints.* 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }')
    echo "$name,$step,$(grep -c '// exercise: ' "steps/$step/attention.cu" || true),$(parts_left "$(work_file "$step")" |
      wc -l),$hints,${word:-begun},${date:-}"
  done
  given=$(find "$work/hunt" -mindepth 2 -maxdepth 2 -name .planted 2>/dev/null | wc -l)
  fixed=$(find "$work/hunt" -mindepth 2 -maxdepth 2 -name .fixed 2>/dev/null | wc -l)
  echo "$name,hunt,$given,$((given - fixed)),,,"
)
write_whole "$file" <<<"$text"
echo "written: $file"
