#!/bin/bash -p
# Finds the JavaScript libraries that the lab book contains: scripts/book_libraries.sh
# Prints for each its name, its licence and its files, with tabs between them; of Prism the page takes only the languages
# that it shows. They are Debian's packages; a library unpacked by `make deps PREFIX=.deps` counts, too. Exit status 2
# when one is missing. With --missing it prints the packages that are missing, and nothing else.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
libraries='
d3      libjs-d3      usr/share/javascript/d3/d3.min.js
jsdiff  node-diff     usr/share/nodejs/diff/dist/diff.js
Prism   node-prismjs  '"$(printf ' usr/share/nodejs/prismjs/components/prism-%s.min.js' core clike c cpp bash)"'
'
find_files() { # paths below a root; prints them with tabs between them
  local path root found=()
  for path in "$@"; do
    for root in "${LAB_DEPS:-.deps}" '' none; do
      if [ -f "$root/$path" ]; then break; fi
    done
    if [ "$root" = none ]; then return 1; fi
    found+=("$root/$path")
  done
  local IFS=$'\t'
  echo "${found[*]}"
}
missing=''
while read -r name package files; do
  if [ -z "$name" ]; then continue; fi
  # shellcheck disable=SC2086 # of a library with several files
  if paths=$(find_files $files) && licence=$(find_files "usr/share/doc/$package/copyright"); then
    [ "${1-}" = --missing ] || printf '%s\t%s\t%s\n' "$name" "$licence" "$paths"
  else
    missing+=" $package"
  fi
done <<<"$libraries"
if [ "${1-}" = --missing ]; then
  for package in $missing; do echo "$package"; done
elif [ -n "$missing" ]; then
  echo "error: the lab book needs Debian's packages$missing: scripts/deps.sh --book installs them" >&2
  exit 2
fi
