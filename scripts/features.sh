#!/bin/bash -p
# Writes the table of features into guide/any_cuda_file.md: scripts/features.sh [--check]
# The rows are the FEATURE lines of common/tests/foreign/*.cu, each of which is a test of what its row says. --check
# writes nothing, and ends with 1 when the page says something else.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
make_scratch
page=guide/any_cuda_file.md

{
  echo '| feature | what works | tested in | what does not |'
  echo '|---|---|---|---|'
  for file in common/tests/foreign/*.cu; do
    # A FEATURE may go over several lines, up to its {.
    awk -v file="${file##*/}" '
      /^FEATURE\(/ { text = ""; inside = 1 }
      inside { text = text " " $0 }
      inside && /\{$/ {
        inside = 0
        gsub(/" +"/, "", text) # a string in parts
        name = text
        sub(/^ *FEATURE\( */, "", name)
        sub(/,.*/, "", name)
        gsub(/_/, " ", name)
        sub(/^[^"]*"/, "", text)
        works = text
        sub(/" *,.*/, "", works)
        lacks = text
        sub(/^.*" *, *"/, "", lacks)
        sub(/"\) *\{$/, "", lacks)
        gsub(/\\"/, "\"", lacks)
        gsub(/\|/, "\\|", works)
        gsub(/__[A-Za-z0-9_]*/, "`&`", works)
        gsub(/__[A-Za-z0-9_]*/, "`&`", lacks)
        print "| " name " | " works " | `" file "` | " lacks " |"
      }' "$file"
  done
} >"$scratch/table"

awk -v table="$scratch/table" '
  /^<!-- features -->$/ { print; print ""; while ((getline line < table) > 0) print line; print ""; inside = 1 }
  /^<!-- end of features -->$/ { inside = 0 }
  !inside && !/^<!-- features -->$/' "$page" >"$scratch/page"

if [ "${1-}" = --check ]; then
  diff -u "$page" "$scratch/page" || {
    echo "error: the table of $page is not what common/tests/foreign says: run scripts/features.sh" >&2
    exit 1
  }
else
  write_whole "$page" <"$scratch/page"
fi
