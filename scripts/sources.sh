# shellcheck shell=bash
# Reads from the first comment of a chart or a table which data it needs, such as
#   # Data: bench.csv (make bench), ceilings.csv (make ceilings)
# To be sourced.

# setting FILE WORD: prints the text behind "# WORD: " in the file.
setting() { sed -n "s/^# $2: *//p" "$1"; }

# sources FILE WORD: the same as lines of a file's name, a tab, and the command that records it.
sources() { setting "$1" "$2" | sed 's/\(([^)]*)\)\{0,1\}, */\1\n/g' | sed 's/ *(\(.*\))$/\t\1/'; }
