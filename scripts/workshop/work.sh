# shellcheck shell=bash
# Functions that find a participant's files and what is known of them. To be sourced from the root of the lab.
#   work/04_online_softmax/attention.cu    the exercise
#   work/.state/04_online_softmax/         hints: how many were given; check: verdict, hash, device, date

work=${LAB_WORK:-work}

# work_file STEP: the participant's file.
work_file() { echo "$work/$1/attention.cu"; }

# state_folder STEP: made when it is not there.
state_folder() { mkdir -p "$work/.state/$1" && echo "$work/.state/$1"; }

# step_of NUMBER: the name of the step, such as 04_online_softmax.
step_of() {
  local found=(steps/"$1"_*/attention.cu)
  if [ ! -f "${found[0]}" ]; then
    echo "error: there is no step $1: its number is $(cd steps && echo [0-9]*_* | sed 's/_[^ ]*//g')" >&2
    return 2
  fi
  basename "${found[0]%/attention.cu}"
}

# need_step STEP...: one step, of those the make verb was given.
need_step() {
  if [ $# -ne 1 ]; then
    echo "error: this verb works on one step: make step04 ${verb:-exercise}" >&2
    exit 2
  fi
}

# need_file STEP: ends the script unless the exercise was begun.
need_file() {
  if [ ! -f "$(work_file "$1")" ]; then
    echo "error: there is no $(work_file "$1") yet: make step${1%%_*} exercise writes it" >&2
    exit 2
  fi
}

# parts_left FILE: for each TODO its line, its length and what is to be written, with tabs between.
parts_left() {
  awk '/^ *\/\/ TODO [0-9]+ of [0-9]+, about [0-9]+ lines?:$/ {
    line = FNR
    lines = $7
    getline
    sub(/^ *\/\/ */, "")
    print line "\t" lines "\t" $0
  }' "$1"
}

# parts_in_all FILE: how many its TODOs say that there are.
parts_in_all() { sed -n 's/^ *\/\/ TODO [0-9]* of \([0-9]*\), about .*/\1/p' "$1" | head -n 1; }

# say_parts_left FILE: a sentence and a line for each; status 1 when there are any.
say_parts_left() {
  parts_left "$1" | awk -F '\t' -v file="$1" -v all="$(parts_in_all "$1")" '
    { text = text sprintf("  line %d, about %d line%s: %s\n", $1, $2, $2 == 1 ? "" : "s", $3) }
    END {
      if (NR == 0) exit
      printf "%d of %d part%s of %s %s still to be written:\n%s", NR, all, all == 1 ? "" : "s", file,
        NR == 1 ? "is" : "are", text
      exit 1
    }'
}

# file_hash FILE
file_hash() { sha256sum "$1" | cut -c 1-16; }

# note_check STEP passed|failed DEVICE: keeps the verdict on the file as it is now.
note_check() {
  echo "$2 $(file_hash "$(work_file "$1")") $3 $(date +%F)" >"$(state_folder "$1")/check"
}

# keep_aside FILE: as FILE.bak; an older one of that name gets a number.
keep_aside() { if [ -f "$1" ]; then mv --backup=numbered "$1" "$1.bak"; fi; }
