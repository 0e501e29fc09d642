# Takes a step's source apart at the lines that mark its exercises,
#   // exercise: what is to be written
#   // until then: what the lines below need to compile, if they need anything
#   ...
#   // end of exercise
# and prints, by mode:
#   skeleton  the source with, in the place of each exercise, a TODO of two lines, with its number and how long its
#             solution is, a blank line, what is there until then, and a line that ends the part
#   solution  the source without the lines that mark
#   list      a line for each exercise: how many lines of code, a tab, what is to be written
#   range     with -v part=N, the numbers of that exercise's first and last line in the solution
#   fill      the skeleton, a second file, with the exercises put back in the places of their TODOs; with
#             -v part=N, or several with blanks between, those alone
#   others    the skeleton, a second file, with all exercises but -v part=N put back, for the compiler: #line
#             tells it where each line comes from, from the source or from that file, named -v name=FILE
# Exit status 2 with a sentence when marks do not pair.

function indent(line) {
  match(line, /^ */)
  return substr(line, 1, RLENGTH)
}

function fail(sentence) {
  printf "error: %s:%d: %s\n", FILENAME, FNR, sentence >"/dev/stderr"
  failed = 1
  exit 2
}

# The line of the second file at which part n ends, or 0 if its last line is no longer there.
function end_of(n, from,  l) {
  for (l = from; l in reader; l++) {
    if (reader[l] ~ "^ *// end of part " n "$") return l
    if (l > from && reader[l] ~ /^ *\/\/ TODO [0-9]+ of [0-9]+, about /) return 0
  }
  return 0
}

# The line in which a part ends whose last line was removed: the TODO and the blank line to write in, and what was there
# until then, if it is still there.
function end_without_mark(n, from) {
  if (reader[from + 2] != "") return from + 1
  return n in until_then && reader[from + 3] == until_then[n] ? from + 3 : from + 2
}

function put_back(n, from,  last) {
  last = end_of(n, from)
  if (!last) last = end_without_mark(n, from)
  if (mode == "others")
    printf "#line %d \"%s\"\n%s#line %d \"%s\"\n", at[n], source, whole[n], last + 1, name
  else
    printf "%s", whole[n]
  filled++
  return last
}

FNR == 1 { files++ }
files == 2 { reader[FNR] = $0; next }

{ line[FNR] = $0; lines_in_all = FNR; source = FILENAME }
/^ *\/\/ exercise: / {
  if (open) fail("an exercise begins inside another")
  open = ++count
  text[count] = $0
  sub(/^ *\/\/ exercise: /, "", text[count])
  first[FNR] = count
  at[count] = FNR
}
open { whole[open] = whole[open] $0 "\n" }
open && /^ *\/\/ until then: / {
  until_then[open] = $0
  sub(/\/\/ until then: /, "", until_then[open])
  until_then[open] = until_then[open] " // until then"
  aside[FNR] = 1
}
open && !(FNR in first) && !/^ *(\/\/.*)?$/ { lines[open]++ }
!/^ *\/\/ (exercise: |until then: |end of exercise$)/ {
  solved++
  if (open && !(open in begins)) begins[open] = solved
  if (open) ends[open] = solved
}
/^ *\/\/ end of exercise$/ {
  if (!open) fail("an exercise ends that has not begun")
  last[FNR] = open
  open = 0
}

END {
  if (failed) exit 2
  if (open) fail("the last exercise does not end")
  if (mode == "list") {
    for (n = 1; n <= count; n++) printf "%d\t%s\n", lines[n], text[n]
    exit
  }
  if (mode == "range") {
    print begins[part], ends[part]
    exit
  }
  if (mode == "fill" || mode == "others") {
    for (l = 1; l in reader; l++) {
      # Behind the first comment, which must stay in front: it may say `// Needs: sm_80`.
      if (mode == "others" && !told && reader[l] !~ /^\/\//) {
        printf "#line %d \"%s\"\n", l, name
        told = 1
      }
      split(reader[l], word, " ")
      if (reader[l] ~ /^ *\/\/ TODO [0-9]+ of [0-9]+, about / && word[5] + 0 == count &&
          (mode == "others" ? part != word[3] : part == "" || index(" " part " ", " " word[3] " ")))
        l = put_back(word[3], l)
      else
        print reader[l]
    }
    exit mode == "fill" && !filled
  }
  for (l = 1; l <= lines_in_all; l++) {
    if (l in first) {
      n = first[l]
      if (mode == "skeleton") {
        printf "%s// TODO %d of %d, about %d line%s:\n", indent(line[l]), n, count, lines[n], (lines[n] == 1 ? "" : "s")
        printf "%s// %s\n\n", indent(line[l]), text[n]
        if (n in until_then) print until_then[n]
        hidden = 1
      }
    } else if (l in last) {
      hidden = 0
      if (mode == "skeleton") printf "%s// end of part %d\n", indent(line[l]), last[l]
    } else if (!hidden && !(l in aside)) {
      print line[l]
    }
  }
}
