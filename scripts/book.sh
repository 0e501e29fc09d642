#!/bin/bash -p
# Writes the lab book: scripts/book.sh PROGRAM OUT.html
# PROGRAM is common/tools/book. This script finds what the page holds: every step of steps/ with its planted bugs, variants
# and substeps, all documents, the published record, and with WORK=1 the reader's own files of the exercises. It tells the
# program in a manifest (common/tools/book/main.c), and prints how large the page is and how long it took.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/parent.sh
. scripts/parent.sh
# shellcheck source=scripts/changed.sh
. scripts/changed.sh
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
# shellcheck source=scripts/writable.sh
. scripts/writable.sh
# shellcheck source=scripts/substep.sh
. scripts/substep.sh
page=common/tools/book/page
began=${EPOCHREALTIME/./}
# shellcheck disable=SC2034 # for parent.sh
steps=steps
make_scratch
if [ $# -ne 2 ]; then
  echo "error: book was given $# arguments: give the program and the page, build/cpu/book build/book/index.html" >&2
  exit 2
fi
program=$1
out=$2
need_writable "$(dirname "$out")"
if [ -t 2 ]; then printf '  writing the lab book ...\r' >&2; fi
manifest=$scratch/manifest
mkdir "$scratch/steps"

add() {
  local IFS=$'\t'
  echo "$*" >>"$manifest"
}

needs() { # program
  if ! command -v "$1" >/dev/null; then
    echo "error: the lab book needs the program $1: scripts/deps.sh --book, or install the package $1" >&2
    exit 2
  fi
}
needs git
needs patch

without_marks() { # source, file to write
  awk -v mode=solution -f scripts/workshop/exercise.awk "$1" >"$2"
}

add_step() { # name, parent, source
  without_marks "$3" "$scratch/steps/$1.cu"
  awk -f scripts/code.awk "$scratch/steps/$1.cu" >"$scratch/steps/$1.code"
  add step "$1" "$2" "$3" "$scratch/steps/$1.cu"
  names+=("$1")
}

add_patches() { # kind, folder in a step's
  local name patch id
  for name in "${lab[@]}"; do
    mkdir -p "$scratch/$2/$name"
    for patch in "steps/$name/$2"/*.patch; do
      [ -f "$patch" ] || continue
      id=${patch##*/} id=${id%.patch}
      if ! patch --fuzz=0 --batch --silent --reject-file=- --output="$scratch/patched" "steps/$name/attention.cu" \
        "$patch" >"$scratch/log" 2>&1; then
        echo "error: $patch no longer applies to its step: $(tail -n 1 "$scratch/log")" >&2
        exit 2
      fi
      without_marks "$scratch/patched" "$scratch/$2/$name/$id.cu"
      add "$1" "$name" "$id" "$patch" "$scratch/$2/$name/$id.cu"
    done
  done
}

add_substeps() { # the sources in between; the page needs the heads of the patches alone
  local name patch id folder
  for name in "${lab[@]}"; do
    folder=$scratch/substeps/$name
    mkdir -p "$folder"
    if [ -n "$(parent "$name")" ]; then substep_source "$name" 0 "$scratch/between.cu" || exit; fi
    while read -r patch; do
      id=${patch##*/} id=${id%.patch}
      substep_apply "$patch" "$scratch/between.cu" || exit
      without_marks "$scratch/between.cu" "$folder/$id.cu"
      awk '/^--- / { exit } { print }' "$patch" >"$folder/$id.head"
      add substep "$name" "$id" "$folder/$id.head" "$folder/$id.cu"
    done < <(substeps_of "$name")
  done
}

add fact commit "$commit"
add fact date "$date"
add fact title "The attention lab book"

mapfile -t documents < <(scripts/files.sh '*.md' | grep -v '/hints\.md$')
for file in "${documents[@]}"; do add document "$file"; done
# A chart that a document shows stands in the page, too; but those of the documents in plots, which show all of them,
# would be half of the page, and the page draws such curves itself.
for file in "${documents[@]}"; do
  if [[ $file == plots/* ]]; then continue; fi
  folder=.
  if [[ $file == */* ]]; then folder=${file%/*}; fi
  grep -o '!\[[^]]*\]([^)]*\.svg)' "$file" | sed 's/.*(\(.*\))/\1/' | while read -r image; do
    image=$(realpath -m --relative-to=. "$folder/$image")
    if [ -f "$image" ]; then echo "$image"; fi
  done || true
done | sort -u >"$scratch/images"
while read -r file; do add image "$file"; done <"$scratch/images"

# Prints those columns of a record that the page reads, and its dates up to the minute, which is enough to tell which of
# two rows is newer. The page computes TFLOP/s itself. A ~ stands for the value of the row above, as most rows differ from
# it in a few columns only. No text of such a file holds a comma.
columns_of_page() { # file
  local read='step dtype batch heads kv_heads seq_q seq_kv head_dim causal median_ms speedup commit date'
  case $1 in
  */timeline*) read='step dtype batch heads seq_q head_dim causal stretch block warp begin end kind key_block file line' ;;
  */counts-lines*) read=$(sed -n '/^[^#]/ { s/,/ /g; p; q; }' "$1") ;; # all of them
  */variants* | */substeps*) read+=' variant speedup_low speedup_high' ;;
  *) read+=' check ci_low_ms ci_high_ms throttled base_step before_step speedup_before speedup_before_low speedup_before_high' ;;
  esac
  awk -F , -v read="$read" '
    BEGIN { for (i = split(read, name, " "); i > 0; i--) is_read[name[i]] }
    /^#/ { print; next }
    !columns { for (i = 1; i <= NF; i++) if ($i in is_read) { place[++columns] = i; if ($i == "date") date = i } }
    date { $date = substr($date, 1, 16) }
    { for (i = 1; i <= columns; i++) {
        value = $place[i]
        same = length(value) > 1 && value == above[i]
        printf "%s%s", same ? "~" : value, (i < columns ? "," : "\n")
        above[i] = value
      }
    }' "$1"
}

# The record, less the samples, of which the other files hold the medians, and less large files that the page does not
# draw: it would be larger than 5 MB with them. For the same reason it draws curves only of GPUs that have a whole ladder.
for file in plots/data/*/*.csv; do
  case $file in
  *-samples.csv | */bench-decode*.csv | */decode*.csv | */splits-*.csv | */sweep-*.csv | */groups*.csv | */peers-?*.csv | \
    */shapes.csv | */spread.csv | */waves*.csv | */mutants.csv | */calibration.csv | *'*'*) ;;
  */ladder*.csv | */peers.csv | */bench.csv | */counts-lines.csv | */timeline*.csv | */variants*.csv | */substeps*.csv)
    if [[ $file == */peers.csv || $file == */bench.csv ]] && ! [ -f "${file%/*}/ladder.csv" ]; then continue; fi
    mkdir -p "$scratch/${file%/*}"
    columns_of_page "$file" >"$scratch/$file"
    add text "$file" "$scratch/$file"
    ;;
  *) add text "$file" ;;
  esac
done
for file in steps/*/hints.md steps/*/goals.txt common/kernel/*.cuh common/numeric/*.h; do
  if [ -f "$file" ]; then add text "$file"; fi
done

# Data of a commit since which the code of the step has changed; comments and layout do not count.
code_without_layout() { # file, or - for the standard input
  awk -f scripts/code.awk "$1" | tr -d '[:space:]'
}
cat plots/data/*/*.csv | awk -F , '
  { gsub(/"/, "") }
  # Counted from the end, because a text in quotes may hold commas, and none stands behind the commit.
  /^step,/ { behind = -1; for (i = 1; i <= NF; i++) if ($i == "commit") behind = NF - i; next }
  /^[0-9]+_/ && behind >= 0 && !seen[$1, $(NF - behind)]++ { print $1 "\t" $(NF - behind) }' >"$scratch/recorded"
# The object is the step's file in that commit, or the commit itself, which is no such code, where the file is missing.
declare -A is_old # of a step and an object: whether the code of the step is another one now
while IFS=$'\t' read -r name commit_of; do
  file=steps/$name/attention.cu
  commit_of_code=${commit_of%-dirty}
  if ! [ -f "$file" ] || ! object=$(git rev-parse --quiet --verify "$commit_of_code:$file" 2>/dev/null ||
    git rev-parse --quiet --verify "$commit_of_code^{commit}" 2>/dev/null); then continue; fi # not in this repository
  if [ -z "${is_old[$name $object]-}" ]; then
    if cmp -s <(git cat-file -p "$object" | code_without_layout -) <(code_without_layout "$file"); then
      is_old[$name $object]=no
    else
      is_old[$name $object]=yes
    fi
  fi
  if [ "${is_old[$name $object]}" = yes ]; then add stale "$name" "$commit_of"; fi
done <"$scratch/recorded"

# Files of which counts by line are recorded, and whose lines are others now.
while IFS=$'\t' read -r file commit_of; do
  object=$(git rev-parse --quiet --verify "${commit_of%-dirty}:$file" 2>/dev/null) || continue
  if ! git cat-file -p "$object" | cmp -s - "$file"; then add moved "$file" "$commit_of"; fi
done < <(cat plots/data/*/counts-lines.csv 2>/dev/null | awk -F , '
  /^step,/ { for (i = 1; i <= NF; i++) column[$i] = i; next }
  $column["file"] != "" && !seen[$column["file"], $column["commit"]]++ { print $column["file"] "\t" $column["commit"] }')

names=()
for source in steps/*/attention.cu; do
  name=$(basename "${source%/attention.cu}")
  add_step "$name" "$(parent "$name")" "$source"
done
lab=("${names[@]}")
if [ -n "${WORK:-}" ]; then
  found=no
  for source in "${LAB_WORK:-work}"/[0-9]*/attention.cu; do
    if ! [ -f "$source" ]; then continue; fi
    found=yes
    name=$(basename "${source%/attention.cu}")
    before=''
    if [ -f "steps/$name/attention.cu" ]; then before=$name; fi
    add_step "$name (own)" "$before" "$source"
  done
  if [ $found = no ]; then
    echo "error: WORK=1 adds your own files, and there is none in ${LAB_WORK:-work}: make step04 exercise writes one" >&2
    exit 2
  fi
fi
code_of() { # OTHER STEP HEADERS FILE: writes the step's code, with what it takes from these headers
  rm -f "$scratch/$4" # it may be a link to the code of a step, which must stay as it is
  if [ -n "$3" ]; then
    with_headers "$1.cu" "$2.cu" "$3" | awk -f scripts/code.awk >"$scratch/$4"
  else
    ln -s "$2.code" "$scratch/$4"
  fi
}
declare -A headers # of each step that takes lines of an earlier one from there
for name in "${names[@]}"; do
  taken=()
  taken_by "$scratch/steps/$name.cu"
  headers[$name]=${taken[*]}
done
for ((i = 0; i < ${#names[@]}; i++)); do
  for ((j = i + 1; j < ${#names[@]}; j++)); do
    a=$scratch/steps/${names[i]}
    b=$scratch/steps/${names[j]}
    code_of "$b" "$a" "$(without "${headers[${names[i]}]}" "${headers[${names[j]}]}")" a.code
    code_of "$a" "$b" "$(without "${headers[${names[j]}]}" "${headers[${names[i]}]}")" b.code
    add size "${names[i]}" "${names[j]}" "$(changed_code "$scratch/a.code" "$scratch/b.code")"
  done
done
add_patches bug bugs
add_patches variant variants
add_substeps

for file in "$page"/*.css; do add style "$file"; done
libraries=$(scripts/book_libraries.sh)
while IFS=$'\t' read -r -a words; do # name, licence, files
  cat "${words[@]:2}" >"$scratch/${words[0]}.js"
  add library "${words[0]}" "$scratch/${words[0]}.js" "${words[1]}"
done <<<"$libraries"
add script "$page/lab.js" # on which the others build
for file in "$page"/*.js; do
  case ${file##*/} in lab.js | start.js) ;; *) add script "$file" ;; esac
done
add script "$page/start.js" # runs when all others are there

# The program asks git which lines have moved. With a diff.external of the reader's git finds none, so it reads no settings.
env -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_SYSTEM -u GIT_EXTERNAL_DIFF -u GIT_DIFF_OPTS \
  GIT_CONFIG_NOSYSTEM=1 HOME="$scratch" XDG_CONFIG_HOME="$scratch" GIT_DIR="$scratch" "$program" "$manifest" "$out"
bytes=$(stat -c %s "$out")
took=$(((${EPOCHREALTIME/./} - began) / 100000))
echo "written: $out ($((bytes / 1000)) kB, ${#lab[@]} steps, ${#documents[@]} documents, $((took / 10)).$((took % 10)) s)"
if ((bytes > 5000000)) && [ -z "${WORK:-}" ]; then # the reader's own files may make it larger
  echo "error: the lab book is larger than 5 MB: look what in it is large" >&2
  exit 1
fi
