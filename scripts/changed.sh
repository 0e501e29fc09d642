# shellcheck shell=bash
# Counts the lines of code that differ between two sources. To be sourced.

# changed A B: the number of lines of code that the second source takes out of the first, and of those that it adds.
# Comments, blank lines and layout do not count, and a line that only moves counts once.
changed() { changed_code <(awk -f scripts/code.awk "$1") <(awk -f scripts/code.awk "$2"); }

# changed_code A B: the same for two files that code.awk has written.
changed_code() {
  diff "$1" "$2" | awk '
    /^</ { gone[substr($0, 3)]++; lines++ }
    /^>/ { come[substr($0, 3)]++; lines++ }
    END {
      for (line in gone) lines -= gone[line] < come[line] ? gone[line] : come[line]
      print lines + 0
    }'
}

# A step may take lines of an earlier step from a header of common/kernel, whose first comment then says
# `// From: NN_name`. taken_by SOURCE appends those that the source includes to the list `taken`, the inner ones first.
taken=()
taken_by() {
  local header
  while read -r header; do
    if ! grep -q -s '^// From: ' "$header"; then continue; fi
    case " ${taken[*]} " in *" $header "*) continue ;; esac
    taken_by "$header"
    taken+=("$header")
  done < <(sed -n 's|^#include "\(.*\)".*|common/kernel/\1|p' "$1")
}

# taken_more OTHER SOURCE: prints those such headers that SOURCE includes and OTHER does not.
taken_more() {
  local others
  taken=()
  taken_by "$1"
  others=${taken[*]}
  taken=()
  taken_by "$2"
  without "${taken[*]}" "$others"
}

# without LIST OTHERS: prints the words of the list that are not among the others.
without() {
  local word left=()
  for word in $1; do
    case " $2 " in *" $word "*) ;; *) left+=("$word") ;; esac
  done
  echo "${left[*]}"
}

# with_headers OTHER SOURCE HEADERS: prints SOURCE with the text of these headers in it, where OTHER has that text.
with_headers() { awk -v headers="$3" -f scripts/with_headers.awk "$1" "$2"; }

# changed_lines A B: counts as `changed` does, and lines that only moved to a header do not count.
changed_lines() {
  changed <(with_headers "$2" "$1" "$(taken_more "$2" "$1")") <(with_headers "$1" "$2" "$(taken_more "$1" "$2")")
}
