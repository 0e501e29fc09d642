# shellcheck shell=bash
# Reads from the first comment of a chart or a table which data it needs, such as
#   # Data: bench.csv (make bench), ceilings.csv (make ceilings)
# To be sourced.

# setting FILE WORD: prints the text behind "# WORD: " in the file.
setting() { sed -n "s/^# $2: *//p" "$1"; }

# sources FILE WORD: the same as lines of a file's name, a tab, and the command that records it.
sources() {
  sed -n "/^# $2: */{s///; s/\(([^)]*)\)\{0,1\}, */\1\n/g; s/ *(\([^()]*\))\(\n\|\$\)/\t\1\2/g; p}" "$1"
}

# records FOLDER NAME: the files of that name in the folder, a line each. A star in the name does not stand for
# "-samples": ladder*.csv are the ladders, and ladder-samples.csv, which has other columns, is none of them.
records() {
  local file
  for file in "$1"/$2; do
    case $2:$file in *\**:*-samples.csv) continue ;; esac
    if [ -f "$file" ]; then echo "$file"; fi
  done
}
