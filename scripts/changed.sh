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
