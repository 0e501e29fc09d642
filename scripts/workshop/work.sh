# shellcheck shell=bash
# Functions that find a participant's files and what is known of them. To be sourced from the root of the lab.
#   work/04_online_softmax/attention.cu    the exercise
#   work/.state/04_online_softmax/         hints.2: how many were given of part 2; check: verdict, hash, device, date;
#                                          sanitize: clean or faults, hash
#   work/.parts/2/04_online_softmax/       part 2 of it between the lab's other parts

# shellcheck source=scripts/writable.sh
. "${BASH_SOURCE[0]%/*}/../writable.sh"
work=${LAB_WORK:-work}

# work_file STEP: the participant's file.
work_file() { echo "$work/$1/attention.cu"; }

# state_folder STEP: made when it is not there. Where it cannot be made a sentence says so, and the status is 2.
state_folder() { (need_writable "$work/.state/$1") && echo "$work/.state/$1"; }

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

# need_lab_step STEP: ends the script unless the step is one of steps/, of which alone there are exercises.
need_lab_step() {
  if [ ! -f "steps/$1/attention.cu" ]; then
    local folder=${STEPS_FOLDER:-steps}
    if [ "$folder" = steps ]; then folder=; fi
    echo "error: there is no steps/$1/attention.cu, and exercises are made of the steps in steps/:" \
      "${folder:+leave STEPS_FOLDER=$folder out and }name one of those, as in make step04 ${verb:-exercise}" >&2
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

# began_as FILE: the name of the step that the file was before the exercise; nothing for an exercise of parts.
began_as() { sed -n '2s|^// make [^ ]* of \([^:]*\): .*|\1|p' "$1"; }

# need_part STEP PART: ends the script unless the step's exercise has such a part.
need_part() {
  local parts
  parts=$(grep -c '// exercise: ' "steps/$1/attention.cu" || true)
  if [ "$parts" -eq 0 ]; then
    echo "error: PART is \"$2\": step ${1%%_*} has no marked exercise, and so no parts" >&2
    exit 2
  fi
  if ! [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || [ "$2" -gt "$parts" ]; then
    echo "error: PART is \"$2\": the exercise of step ${1%%_*} has parts 1 to $parts" >&2
    exit 2
  fi
}

# parts_left FILE: for each part that is as the exercise left it: its number, line, length and what is to be written,
# with tabs between. Its TODO alone says nothing: a participant may write below it. A file that began as another step is
# one part, which is left while no line has changed.
parts_left() {
  local before
  before=$(began_as "$1")
  if [ -n "$before" ] && ! cmp -s <(unchanged_lines "$1" | tail -n +4) <(
    awk -v mode=solution -f scripts/workshop/exercise.awk "steps/$before/attention.cu" | unchanged_lines
  ); then
    return
  fi
  awk -v whole="$before" '
    function flush() { if (n && (ended || whole != "") && !written) print n "\t" line "\t" lines "\t" text; n = 0 }
    /^ *\/\/ TODO [0-9]+ of [0-9]+, about [0-9]+ lines?:$/ {
      flush()
      split($0, word, " ")
      n = word[3]
      line = FNR
      lines = word[7]
      written = ended = 0
      getline
      sub(/^ *\/\/ */, "")
      text = $0
      next
    }
    n && $0 ~ "^ *// end of part " n "$" { ended = 1; flush() }
    n && whole == "" && !/^ *(\/\/.*)?$/ && !/\/\/ until then$/ { written = 1 }
    END { flush() }' "$1"
}

# Prints the lines that an exercise takes over from another step, those that it adds or changes left out.
unchanged_lines() { grep -v -e '^// Needs: ' -e '^// After: ' -e '^const char \*attention_name' "$@"; }

# parts_in_all FILE: how many its TODOs say that there are.
parts_in_all() { sed -n 's/^ *\/\/ TODO [0-9]* of \([0-9]*\), about .*/\1/p' "$1" | head -n 1; }

# say_parts_left FILE: a sentence and a line for each; nothing when there are none.
say_parts_left() {
  parts_left "$1" | awk -F '\t' -v file="$1" -v all="$(parts_in_all "$1")" '
    { text = text sprintf("  line %d, about %d line%s: %s\n", $2, $3, $3 == 1 ? "" : "s", $4) }
    END {
      if (NR == 0) exit
      printf "%d of %d part%s of %s %s still to be written:\n%s", NR, all, (all == 1 ? "" : "s"), file,
        (NR == 1 ? "is" : "are"), text
    }'
}

# say_part_left FILE PART: a sentence if that part is as the exercise left it; nothing when it is written.
say_part_left() {
  parts_left "$1" | awk -F '\t' -v part="$2" '$1 == part { printf "part %d is still to be written, at line %d: %s\n", $1, $2, $4 }'
}

# say_marks_left FILE [PART]: a sentence for each line marked `until then` that still stands in a part, or in part PART,
# which is written: as a rule it returns or declares something before the lines that take its place.
say_marks_left() {
  awk -v file="$1" -v part="${2:-}" '
    function flush() {
      if (n && written && mark && (part == "" || n == part))
        printf "line %d of %s still ends in \"// until then\": delete it, because your lines take its place\n", mark, file
      n = 0
    }
    /^ *\/\/ TODO [0-9]+ of [0-9]+, about [0-9]+ lines?:$/ { flush(); split($0, word, " "); n = word[3]; written = mark = 0; next }
    /^ *\/\/ end of part [0-9]+$/ { flush() }
    n && /\/\/ until then$/ { mark = FNR; next }
    n && !/^ *(\/\/.*)?$/ { written = 1 }
    END { flush() }' "$1"
}

# file_hash FILE
file_hash() { sha256sum "$1" | cut -c 1-16; }

# note_check STEP passed|right|quick|failed DEVICE HASH: keeps the verdict on the file with this hash, which may have been
# changed since it was built; right is one that passes all tests and does not meet the step's goals. After all tests have
# passed, the same file loses nothing by the quick ones.
note_check() {
  local before='' folder
  before=$(cat "$work/.state/$1/check" 2>/dev/null || true)
  if [ "$2" = quick ] && [[ $before == "passed $4 "* ]]; then return; fi
  folder=$(state_folder "$1") || exit
  echo "$2 $4 $3 $(date +%F)" >"$folder/check"
}

# note_sanitized STEP clean|faults HASH: keeps what the sanitizer says of the whole file with this hash.
note_sanitized() {
  local folder
  folder=$(state_folder "$1") || exit
  echo "$2 $3" >"$folder/sanitize"
}

# sanitized STEP: clean or faults, if the sanitizer has seen the file as it is now.
sanitized() {
  local word hash
  if ! read -r word hash 2>/dev/null <"$work/.state/$1/sanitize"; then return; fi
  if [ "$hash" = "$(file_hash "$(work_file "$1")")" ]; then echo "$word"; fi
}

# verdict STEP: the last one on the file as it is now: passed, right, quick or failed, the device and the date; "changed" and
# the word where the file is another one now; nothing where there is none.
verdict() {
  local word hash device date
  if ! read -r word hash device date 2>/dev/null <"$work/.state/$1/check"; then return; fi
  if [ "$hash" = "$(file_hash "$(work_file "$1")")" ]; then echo "$word $device $date"; else echo "changed $word"; fi
}

# keep_aside FILE: as FILE.bak; an older one of that name gets a number.
keep_aside() { if [ -f "$1" ]; then mv --backup=numbered "$1" "$1.bak"; fi; }
