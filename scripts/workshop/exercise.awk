# Takes a step's source apart at the lines that mark its exercises,
#   // exercise: what is to be written
#   // until then: what the lines below need to compile, if they need anything
#   ...
#   // end of exercise
# and prints, by mode:
#   skeleton  the source with a TODO of two lines, with its number and how long its solution is, a blank line,
#             and what is there until then, in the place of each exercise
#   solution  the source without the lines that mark
#   list      a line for each exercise: how many lines of code, a tab, what is to be written
#   fill      the skeleton, a second file, with the exercises put back in the places of their TODOs; with
#             -v part=N that one alone
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

FNR == 1 { files++ }

files == 2 {
  if (match($0, /^ *\/\/ TODO [0-9]+ of [0-9]+, about /)) {
    split($0, word, " ")
    if (word[5] + 0 == count && (part == "" || part == word[3])) {
      printf "%s", whole[word[3]]
      filled++
      getline # what is to be written, and the blank line to write it in
      if (getline <= 0) exit
      if ($0 == "" && !(word[3] in until_then)) next
      if ($0 == "" && (getline <= 0 || $0 == until_then[word[3]])) next
    }
  }
  print
  next
}

{ line[FNR] = $0 }
/^ *\/\/ exercise: / {
  if (open) fail("an exercise begins inside another")
  open = ++count
  text[count] = $0
  sub(/^ *\/\/ exercise: /, "", text[count])
  first[FNR] = count
}
open { whole[open] = whole[open] $0 "\n" }
open && /^ *\/\/ until then: / {
  until_then[open] = $0
  sub(/\/\/ until then: /, "", until_then[open])
  until_then[open] = until_then[open] " // until then"
  aside[FNR] = 1
}
open && !(FNR in first) && !/^ *(\/\/.*)?$/ { lines[open]++ }
/^ *\/\/ end of exercise$/ {
  if (!open) fail("an exercise ends that has not begun")
  open = 0
  last[FNR] = 1
}

END {
  if (failed) exit 2
  if (open) fail("the last exercise does not end")
  if (mode == "fill") exit !filled
  if (mode == "list") {
    for (n = 1; n <= count; n++) printf "%d\t%s\n", lines[n], text[n]
    exit
  }
  for (l = 1; l <= FNR; l++) {
    if (l in first) {
      n = first[l]
      if (mode == "skeleton") {
        printf "%s// TODO %d of %d, about %d line%s:\n", indent(line[l]), n, count, lines[n], lines[n] == 1 ? "" : "s"
        printf "%s// %s\n\n", indent(line[l]), text[n]
        if (n in until_then) print until_then[n]
        hidden = 1
      }
    } else if (l in last) {
      hidden = 0
    } else if (!hidden && !(l in aside)) {
      print line[l]
    }
  }
}
