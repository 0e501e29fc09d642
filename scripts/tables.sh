#!/bin/bash -p
# Writes the tables of the documents from the recorded data: scripts/tables.sh [--check] [FILE.md...]
#
# A table stands between two lines of a document, which begin in its first column:
#   <!-- table: NAME ARGUMENT... -->
#   <!-- end of table -->
# NAME is that of scripts/tables/NAME.awk, whose first comment says what it takes:
#   # Arguments: DEVICE DTYPE       the words behind NAME, if any; awk gets them as device and dtype
#   # Data: bench.csv (make bench)  files of plots/data/DEVICE, and what records them: all are needed;
#                                   ../emulated-DEVICE/bugs.csv is one of the emulator
#   # With: peers.csv (make peers)  files that add to the table where they are there
#   # Awk: scripts/timeline         files of awk functions that NAME.awk calls, without .awk
# An argument's name in a file's name stands for its value. A table without its data is a line that says
# what records it. Without FILE: all documents of the repository.
#
# --check writes nothing. Exit status 1 when a table is not what the data says, 2 when a document's lines
# make no sense.
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

check=no
if [ "${1-}" = --check ]; then
  check=yes
  shift
fi
if [ $# -eq 0 ]; then
  mapfile -t documents < <(scripts/files.sh '*.md')
  set -- "${documents[@]}"
fi

refuse() { # document, line, sentence
  echo "error: $1:$2: $3" >&2
  exit 2
}

# Prints the text of a table, such as that of "ladder nvidia-h200".
table() { # document, line, words
  local -a part=() names=() files=() found=() values=()
  local script i data file path command missing='' without=''
  read -r -a part <<<"$3"
  script=scripts/tables/${part[0]-}.awk
  if ! [ -f "$script" ]; then
    refuse "$1" "$2" "there is no table '${part[0]-}': there are $(cd scripts/tables && echo *.awk | sed 's/\.awk//g')"
  fi
  read -r -a names < <(setting "$script" Arguments)
  if [ ${#part[@]} -ne $((${#names[@]} + 1)) ]; then
    refuse "$1" "$2" "this table is written as: ${part[0]} ${names[*]}"
  fi
  for ((i = 0; i < ${#names[@]}; i++)); do values+=(-v "${names[i],,}=${part[i + 1]}"); done
  data=plots/data/${part[1]-}

  # path_of FILE: with the arguments' values in it; a name may begin with ../
  path_of() {
    local name=$1
    for ((i = 0; i < ${#names[@]}; i++)); do name=${name//${names[i]}/${part[i + 1]}}; done
    if [[ $name == ../* ]]; then echo "${data%/*}/${name#../}"; else echo "$data/$name"; fi
  }
  while IFS=$'\t' read -r file command; do
    path=$(path_of "$file")
    files+=("$path")
    if ! [ -f "$path" ]; then missing+="${missing:+, }\`$path\`${command:+ (\`$command\`, \`make publish\`)}"; fi
  done < <(sources "$script" Data)
  if [ -n "$missing" ]; then
    echo "Not recorded yet: $missing."
    return
  fi
  while IFS=$'\t' read -r file command; do
    path=$(path_of "$file") # may hold a star
    mapfile -t found < <(records "${path%/*}" "${path##*/}")
    files+=("${found[@]}")
    if [ ${#found[@]} -eq 0 ] && [ -n "$command" ]; then
      without+="${without:+, }\`$path\` (\`$command\`, \`make publish\`)"
    fi
  done < <(sources "$script" With)
  names=(-f scripts/csv.awk -f scripts/text.awk -f scripts/cells.awk)
  for data in $(setting "$script" Awk); do names+=(-f "$data.awk"); done
  awk "${names[@]}" -f "$script" "${values[@]}" "${files[@]}" </dev/null || exit
  if [ -n "$without" ]; then
    echo
    echo "Not recorded yet: $without."
  fi
}

# Prints a document with new tables; says on standard error where they differ from the old ones.
renew() { # document
  local line number=0 begun=0 words='' old='' new
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    case $line in
    '<!-- table:'*)
      [ $begun -eq 0 ] || refuse "$1" $number "a table begins here, and the one of line $begun has no end yet"
      begun=$number
      words=${line#<!-- table:}
      words=${words% -->}
      old=
      ;;
    '<!-- end of table -->')
      [ $begun -ne 0 ] || refuse "$1" $number "a table ends here, and none has begun"
      new=$(table "$1" $begun "$words") || exit
      if [ "$old" != "$new"$'\n' ]; then
        echo "$1:$begun: the table '${words# }' is not what plots/data says" >&3
      fi
      printf '%s\n' "$new"
      begun=0
      ;;
    *) if [ $begun -ne 0 ]; then
      old+=$line$'\n'
      continue
    fi ;;
    esac
    printf '%s\n' "$line"
  done <"$1"
  [ $begun -eq 0 ] || refuse "$1" $begun "a table begins here and has no <!-- end of table -->"
}

count=0
for document in "$@"; do
  if ! [ -f "$document" ] || ! [ -r "$document" ]; then
    echo "error: cannot read $document: name documents of the lab, or none for all of them" >&2
    exit 2
  fi
  grep -q '^<!-- \(table:\|end of table\)' "$document" || continue
  count=$((count + $(grep -c '^<!-- table:' "$document" || true)))
  renew "$document" 3>>"$scratch/stale" >"$scratch/document"
  if [ $check = no ] && ! cmp -s "$scratch/document" "$document"; then
    write_whole "$document" <"$scratch/document"
    echo "written: $document"
  fi
done
if [ $check = yes ] && [ -s "$scratch/stale" ]; then
  cat "$scratch/stale"
  echo "tables: the tables above are stale: run make tables"
  exit 1
fi
echo "tables: $count tables are what plots/data says"
