#!/usr/bin/env bash
# Finds the JavaScript libraries that the lab book contains: scripts/book_libraries.sh
# Prints for each its name, its file and its licence, with tabs between them. They are Debian's packages; a library
# unpacked by `make deps PREFIX=.deps` counts, too. Exit status 2 when one is missing. With --missing it prints the
# packages that are missing, and nothing else.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
libraries='
d3            libjs-d3            usr/share/javascript/d3/d3.min.js
highlight.js  libjs-highlight.js  usr/share/javascript/highlight.js/highlight.min.js
jsdiff        node-diff           usr/share/nodejs/diff/dist/diff.js
'
find_file() { # path below a root
  local root
  for root in "${LAB_DEPS:-.deps}" ''; do
    if [ -f "$root/$1" ]; then
      echo "$root/$1"
      return
    fi
  done
  return 1
}
missing=''
while read -r name package file; do
  if [ -z "$name" ]; then continue; fi
  if path=$(find_file "$file") && licence=$(find_file "usr/share/doc/$package/copyright"); then
    [ "${1-}" = --missing ] || printf '%s\t%s\t%s\n' "$name" "$path" "$licence"
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
