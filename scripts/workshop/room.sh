#!/bin/bash -p
# Shows how far the participants of a workshop are: scripts/workshop/room.sh WITH names a folder that holds the files
# that `make progress NAME=anna` writes, one for each. A line for each participant: how many exercises pass, which one
# is under way with its parts that are left, how many hints were taken in it, and the bugs that were fixed; those who
# have taken the most hints for what is under way come first, because they may be stuck.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
shopt -s nullglob
files=("${WITH:-}"/*.csv)
if [ -z "${WITH:-}" ] || [ ${#files[@]} -eq 0 ]; then
  echo "error: WITH is \"${WITH:-}\": give the folder of the files that make progress NAME=... has written" >&2
  exit 2
fi
for file in "${files[@]}"; do
  if [ "$(head -n 1 "$file" | tr -d '\r')" != 'name,step,parts,left,hints,verdict,date' ]; then
    echo "error: $file is not a file that make progress NAME=... writes" >&2
    exit 2
  fi
done
# A participant who has sent several files counts once, with the newest of them.
mapfile -t files < <(ls -t -- "${files[@]}")
awk -F , -v OFS='\t' '
  { sub(/\r$/, "") }
  FNR == 1 { next }
  !($1 in file_of) { file_of[$1] = FILENAME }
  file_of[$1] != FILENAME {
    if (!told[FILENAME]++) print "note: " FILENAME " is left out: a newer file has the name " $1 > "/dev/stderr"
    next
  }
  { people[$1] = 1 }
  $2 == "hunt" { hunts[$1] = ($3 - $4) " of " $3; next }
  $6 == "passed" { passed[$1]++; next }
  { under_way[$1] = $2; left[$1] = $4 " of " $3; hints[$1] = $5; verdict[$1] = $6 }
  END {
    for (name in people)
      print hints[name] + 0, name, passed[name] + 0, name in under_way ? under_way[name] : "-",
        name in left ? left[name] : "-", name in hints ? hints[name] : "-", name in verdict ? verdict[name] : "-",
        name in hunts ? hunts[name] : "-"
  }' "${files[@]}" | sort -t $'\t' -k 1,1nr -k 3,3n -k 2,2 | cut -f 2- >"$scratch/rows"
{
  printf 'name\tpassed\tunder way\tparts left\thints\tcheck\tbugs fixed\n'
  cat "$scratch/rows"
} | awk -f scripts/align.awk
