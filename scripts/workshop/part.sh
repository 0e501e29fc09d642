#!/bin/bash -p
# Puts one part of a participant's file between the lab's other parts: scripts/workshop/part.sh STEP PART
# Writes work/.parts/PART/STEP/attention.cu and prints the folder work/.parts/PART. A part whose comments, from its TODO
# to "end of part", are gone from the participant's file stays as it is there.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
step=$1
part=$2
need_file "$step"
need_part "$step" "$part"
folder=$work/.parts/$part
file=$folder/$step/attention.cu
need_writable "${file%/*}"
text=$(awk -v mode=others -v part="$part" -v name="$(work_file "$step")" -f scripts/workshop/exercise.awk \
  "steps/$step/attention.cu" "$(work_file "$step")")
# The same text keeps its time, so that it is not compiled again.
cmp -s "$file" <<<"$text" || write_whole "$file" <<<"$text"
echo "$folder"
