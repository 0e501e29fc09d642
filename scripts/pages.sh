#!/bin/bash -p
# Checks the links and the sections of the documents: scripts/pages.sh [FILE.md...]
#
# Every link of a document to a file must lead to a file that exists, and a link to a heading, FILE.md#heading,
# to a heading that exists. Links to other sites are not followed. Code, in fences, indented or between
# backquotes, has no links.
#
# No two pictures of a document have the same words, which are all that some readers have of them.
#
# The numbers of a list begin with 1 and rise by 1 under each heading. Where one is missing, its item stands at the end of
# the item before, and Markdown shows the items behind it with other numbers.
#
# The page of a step, steps/*/README.md, has these sections, in this order; those with a star are optional:
#   The idea, Predict, Exercise*, Measure, What each part brings*, What did not help*,
#   What the documents say*, In the diff, Further reading*
#
# Without FILE: all documents of the repository. Exit status 1 when something is wrong, 2 when a document
# cannot be read.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
if [ $# -eq 0 ]; then
  mapfile -t documents < <(scripts/files.sh '*.md')
  set -- "${documents[@]}"
fi
for document in "$@"; do
  [ -r "$document" ] || {
    echo "error: $document: there is no such document" >&2
    exit 2
  }
done

# Writes a line "heading TEXT", "link LINE TARGET", "picture LINE TEXT", "item LINE NUMBER" or "section LINE TEXT" for each
# of a document. A heading stands in the form that links take: in small letters, without punctuation, with dashes for
# blanks. A number at the beginning of a line is that of an item, unless the line goes on with a paragraph.
parts() { # document
  awk '
    { paragraph = inside; inside = /^[^ ]/ && !/^[0-9]+\. / }
    /^ *```/ { code = !code; inside = 0; next }
    code || /^    / { next }
    /^[0-9]+\. / && !paragraph { print "item " NR " " $1 + 0 }
    /^#+ / {
      inside = 0
      text = $0
      sub(/^#+ /, "", text)
      if ($0 ~ /^## /) print "section " NR " " text
      gsub(/[^A-Za-z0-9 _-]/, "", text)
      gsub(/ /, "-", text)
      print "heading " tolower(text)
    }
    {
      line = $0
      gsub(/`[^`]*`/, "", line)
      rest = line
      while (match(rest, /!\[[^]]*\]\(/)) {
        print "picture " NR " " substr(rest, RSTART + 2, RLENGTH - 4)
        rest = substr(rest, RSTART + RLENGTH)
      }
      while (match(line, /\]\([^()]*\)/)) {
        target = substr(line, RSTART + 2, RLENGTH - 3)
        line = substr(line, RSTART + RLENGTH)
        if (target !~ /^[a-z]+:/) print "link " NR " " target
      }
    }' "$1"
}

links=0
check_links() { # document
  local kind line target file heading folder=.
  if [[ $1 == */* ]]; then folder=${1%/*}; fi
  while read -r kind line target; do
    [ "$kind" = link ] || continue
    links=$((links + 1))
    file=${target%%#*}
    heading=
    if [[ $target == *#* ]]; then heading=${target#*#}; fi
    if [ -n "$file" ]; then file=$folder/$file; else file=$1; fi
    if ! [ -e "$file" ]; then
      echo "$1:$line: the link leads to $target, and there is no such file"
    elif [ -n "$heading" ] && ! parts "$file" | grep -qxF "heading $heading"; then
      echo "$1:$line: the link leads to $target, and that document has no such heading"
    fi
  done <"$scratch/parts"
}

check_pictures() { # document
  awk -v document="$1" '
    $1 == "picture" {
      text = $0
      sub(/^picture [0-9]+ /, "", text)
      if (text in line) print document ":" $2 ": the picture has the same words as that of line " line[text] ", \"" text "\": say what each shows"
      line[text] = $2
    }' "$scratch/parts"
}

check_lists() { # document
  awk -v document="$1" '
    $1 == "heading" { last = 0 }
    $1 == "item" {
      if ($3 != 1 && $3 != last + 1)
        print document ":" $2 ": item " $3 " comes " (last ? "after item " last : "first") ": the numbers of a list rise by 1, from 1 on"
      last = $3
    }' "$scratch/parts"
}

check_sections() { # document
  awk -v document="$1" '
    BEGIN {
      count = split("The idea:Predict:Exercise*:Measure:What each part brings*:What did not help*:" \
                    "What the documents say*:In the diff:Further reading*", form, ":")
      for (i = 1; i <= count; i++) {
        needed[i] = !sub(/\*$/, "", form[i])
        place[form[i]] = i
      }
    }
    $1 == "section" {
      text = $0
      sub(/^section [0-9]+ /, "", text)
      lines[++sections] = $2
      texts[sections] = text
      found[text] = 1
    }
    END {
      for (i = 1; i <= sections; i++) {
        at = document ":" lines[i] ": "
        if (!(texts[i] in place)) {
          print at "\"" texts[i] "\" is no section of a step: see scripts/pages.sh for those that are"
        } else if (place[texts[i]] <= last) {
          print at "the section \"" texts[i] "\" comes before \"" form[last] "\" in the page of a step"
        } else {
          last = place[texts[i]]
        }
      }
      for (i = 1; i <= count; i++)
        if (needed[i] && !found[form[i]]) print document ": the page of a step needs the section \"" form[i] "\""
    }' "$scratch/parts"
}

for document in "$@"; do
  parts "$document" >"$scratch/parts"
  check_links "$document" >>"$scratch/wrong"
  check_pictures "$document" >>"$scratch/wrong"
  check_lists "$document" >>"$scratch/wrong"
  if [[ $document == steps/*/README.md ]]; then check_sections "$document" >>"$scratch/wrong"; fi
done
if [ -s "$scratch/wrong" ]; then
  cat "$scratch/wrong"
  echo "pages: the lines above say what is wrong in the documents"
  exit 1
fi
echo "pages: $links links of $# documents lead somewhere, and the pages of the steps have their sections"
