# shellcheck shell=bash
# Reads from the first comment of a chart or a table which data it needs, such as
#   # Data: bench.csv (make bench), ceilings.csv (make ceilings)
# To be sourced.

# The shell reads these lines itself, because all charts ask for hundreds of them, and each would start a program.

# setting FILE WORD: prints the text behind "# WORD: " in the file.
setting() {
  local line
  while IFS= read -r line; do
    if [[ $line =~ ^'# '"$2: "*(.*) ]]; then echo "${BASH_REMATCH[1]}"; fi
  done <"$1"
}

# sources FILE WORD: the same as lines of a file's name, a tab, and the command that records it.
sources() {
  local text tab
  while IFS= read -r text; do
    while [[ $text =~ ^([^ ,]+)' '*(\(([^()]*)\))?(, *)?(.*) ]]; do
      tab=${BASH_REMATCH[2]:+$'\t'} # within double quotes bash's POSIX mode would keep the letters $'\t'
      echo "${BASH_REMATCH[1]}$tab${BASH_REMATCH[3]}"
      text=${BASH_REMATCH[5]}
    done
  done < <(setting "$1" "$2")
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
