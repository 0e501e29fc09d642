#!/bin/bash -p
# Lets tables fit the terminal: COMMAND | scripts/fit.sh [COLUMN]. A table that is wider is printed in pieces, one below
# the other, each with the COLUMN (1) that names its rows. Text is broken at blanks. Columns stand apart by two blanks or more. The width is that of the terminal, or
# COLUMNS, where that is in the environment; without either all is printed as it comes.
export LC_ALL=C
set -u
width=${COLUMNS:-}
# tput looks at its input for a terminal, and that of this script is the table.
if [ -z "$width" ] && [ -t 1 ]; then { width=$(tput cols 2>/dev/null <&3); } 3>&1; fi
if ! [[ $width =~ ^[1-9][0-9]*$ ]]; then exec cat; fi
exec awk -v width="$width" -v key="${1:-1}" '
  function trimmed(text) { sub(/ +$/, "", text); return text }
  function fold_text(text,  cut) {
    while (length(text) > width) {
      for (cut = width; cut > 1 && substr(text, cut + 1, 1) != " "; cut--)
        ;
      if (cut == 1) break
      print substr(text, 1, cut)
      text = substr(text, cut + 2)
    }
    print text
  }
  # Prints the lines that have come, which make one table or one paragraph.
  function flush(  n, p, c, used, from, last, piece, open) {
    if (widest <= width || lines < 2) {
      for (n = 1; n <= lines; n++) fold_text(line[n])
      lines = widest = 0
      return
    }
    # A column begins where all rows have two blanks before.
    columns = 1
    begin[1] = 1
    for (p = 3; p <= widest; p++) {
      for (n = 1; n <= lines; n++)
        if (line[n] !~ /  skipped: / && substr(line[n] "   ", p - 2, 2) ~ /[^ ]/) break
      if (n <= lines) continue
      open = 0
      for (n = 1; n <= lines; n++)
        if (line[n] !~ /  skipped: / && substr(line[n], p, 1) ~ /[^ ]/) open = 1
      if (open) begin[++columns] = p
    }
    begin[columns + 1] = widest + 3
    # Numbers are aligned to the right: the blanks in front of them belong to their column.
    for (c = columns; c > 1; c--) {
      last = 0
      for (n = 1; n <= lines; n++) {
        if (line[n] ~ /  skipped: /) continue
        piece = trimmed(substr(line[n], begin[c - 1], begin[c] - begin[c - 1]))
        if (length(piece) > last) last = length(piece)
      }
      begin[c] = begin[c - 1] + last + 2
    }
    if (columns <= key) {
      for (n = 1; n <= lines; n++) fold_text(line[n])
      lines = widest = 0
      return
    }
    for (c = key + 1; c <= columns; c = from) {
      used = c == key + 1 ? begin[c] - 1 : begin[key + 1] - begin[key]
      for (from = c; from <= columns && (from == c || used + begin[from + 1] - begin[from] - 2 <= width); from++)
        used += begin[from + 1] - begin[from]
      if (c > key + 1) print ""
      for (n = 1; n <= lines; n++)
        if (line[n] !~ /  skipped: /)
          print trimmed((c == key + 1 ? substr(line[n], 1, begin[c] - 1) : substr(line[n], begin[key], begin[key + 1] - begin[key])) \
            substr(line[n], begin[c], begin[from] - begin[c]))
        else if (c == key + 1)
          print substr(line[n], 1, width - 1)
    }
    lines = widest = 0
  }
  /^ *$/ { flush(); print; next }
  { line[++lines] = $0; if (length($0) > widest) widest = length($0) }
  END { flush() }'
