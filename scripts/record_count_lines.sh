#!/bin/bash -p
# Puts a step's counts by source line into a device's record: scripts/record_count_lines.sh FOLDER <stepNN-lines.csv
# The rows come with a line of names, and replace all rows of FOLDER/counts-lines.csv of the same step. Commit and date
# are of now.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
folder=$1
file=$folder/counts-lines.csv
mkdir -p "$folder"
exec 9<"$folder" && flock 9 # what two of these add at once is added by one after the other
recorded=$file
[ -f "$file" ] || recorded=/dev/null
rows=$(awk -v commit="$commit" -v date="$date" -F , '
  FILENAME == "-" && FNR == 1 { header = $0 ",commit,date"; next }
  FILENAME == "-" { replaced[$1]; added[++count] = $0 "," commit "," date; next }
  FNR > 1 { old[++olds] = $0; step[olds] = $1 }
  END {
    print header
    for (i = 1; i <= olds; i++) if (!(step[i] in replaced)) print old[i]
    for (i = 1; i <= count; i++) print added[i]
  }' - "$recorded")
{ head -n 1 <<<"$rows" && tail -n +2 <<<"$rows" | sort --stable --field-separator=, --key=1,1; } | write_whole "$file"
