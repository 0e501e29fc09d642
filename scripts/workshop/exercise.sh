#!/bin/bash -p
# Makes and fills the participant's file of a step: scripts/workshop/exercise.sh VERB STEP
#   start     writes work/STEP/attention.cu: the step with holes; with FROM=03 the lab's solution of step 03, to
#             be changed, which is a step before this one. A file that is there stays, unless FORCE=1 is given: then it
#             is kept as .bak.
#   reset     the same, always, and forgets the hints
#   fill      puts the lab's solution of part PART, or of all parts that are still to be written, in the places of their
#             TODOs
#   solution  the file beside the step's own, where they differ; with PART=2 in that part alone
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
verb=$1
shift
verb=${verb/start/exercise} need_step "$@"
step=$1
number=${step%%_*}
verb=${verb/start/exercise} need_lab_step "$step"
steps=steps # for parent
# shellcheck source=scripts/parent.sh
. scripts/parent.sh
source=steps/$step/attention.cu
file=$(work_file "$step")

apart() { awk -v mode="$1" -v part="${PART:-}" -f scripts/workshop/exercise.awk "${@:2}"; }

# The number of the first part that still has its TODO, if there is any.
first_todo() { sed -n 's|^ *// TODO \([0-9]*\) of .*|\1|p' "$file" | head -n 1; }

# The lab's solution of the step FROM under the name of this step, with one TODO that says what changes.
changed_from() {
  local before before_source
  before=$(step_of "$FROM")
  before_source=steps/$before/attention.cu
  local summary lines needs
  summary=$(grep -A 2 '^const char \*attention_summary' "$source" | grep -o -m 1 '"[^"]*"' | tr -d '"')
  lines=$(diff <(apart solution "$before_source") <(apart solution "$source") | grep -c '^>' || true)
  needs=$(sed -n -e '/^[^/]/q' -e '/^\/\/ Needs: /p' -e '/^\/\/ After: /p' "$source")
  printf '// TODO 1 of 1, about %d lines:\n// make %s of %s: %s\n\n' "$lines" "$step" "$before" "$summary"
  apart solution "$before_source" | awk -v before="$before" -v step="$step" -v needs="$needs" '
    /^\/\/ (Needs|After): / { next }
    /^const char \*attention_name/ { sub(before, step) }
    { print }
    NR == 1 && needs != "" { print needs }'
}

# The file, a part that was filled without the lines that mark it.
without_marks() { sed -E "/^ *\/\/ (exercise: .*|until then: .*|end of exercise|end of part [0-9]+)$/d" "$@"; }

# The file with the lab's lines of the part PART, and no others of the lab's. Where the lines that mark the part are gone,
# it is what stands in the place of the lab's lines first to last.
with_part() {
  local first last text
  if text=$(apart fill "$source" "$file"); then
    without_marks <<<"$text"
    return
  fi
  read -r first last <<<"$(apart range "$source")"
  diff --old-line-format='-%L' --new-line-format='+%L' --unchanged-line-format=' %L' \
    <(without_marks "$file") <(apart solution "$source") |
    awk -v first="$first" -v last="$last" '
      # Ends a difference, in which the lab has the lines from + 1 to line.
      function flush() {
        if (from < line ? from < last && line >= first : line <= last && line >= first - 1) printf "%s", lab
        else printf "%s", mine
        mine = lab = ""
        from = line
      }
      /^-/ { mine = mine substr($0, 2) "\n"; next }
      /^\+/ {
        line++
        if (line >= first && line <= last) lab = lab substr($0, 2) "\n"
        next
      }
      {
        flush()
        from = ++line
        print substr($0, 2)
      }
      END { flush() }'
}

# The participant's lines with - and the lab's with +, for a terminal on which two sides have no room. A line that is
# longer than the terminal goes on below itself.
below_each_other() {
  echo "- ${PART:+part $PART of }$file; + the lab's"
  { diff --expand-tabs -U 2 <(echo "$mine") <(echo "$solved") || true; } |
    awk -v width="$columns" -v colour="$colour" '
      FNR <= 2 { next }
      /^@@/ { print "..."; next }
      {
        found = 1
        on = /^-/ ? "\033[31m" : /^\+/ ? "\033[32m" : ""
        if (!colour) on = ""
        text = substr($0, 1, 1) " " substr($0, 2)
        sub(/ +$/, "", text)
        while (length(text) > width) {
          for (cut = width; cut > 8 && substr(text, cut + 1, 1) != " "; cut--)
            ;
          if (cut == 8) cut = width
          print on substr(text, 1, cut) (on == "" ? "" : "\033[0m")
          text = substr(text, 1, 1) "       " substr(text, cut + 1)
        }
        print on text (on == "" ? "" : "\033[0m")
      }
      END { if (!found) print "no difference" }'
}

write() {
  local text before
  if [ -n "${FROM:-}" ]; then
    before=$(step_of "$FROM")
    if ! [[ ${before%%_*} < $number ]]; then
      echo "error: FROM is \"$FROM\": an exercise of step $number starts from a step before it, and step $FROM is not" \
        "before step $number" >&2
      exit 2
    fi
  fi
  if [ -z "${FROM:-}" ] && [ -z "$(apart list "$source")" ]; then
    echo "error: step $number has no marked exercise: start from the step that it comes after:" \
      "make step$number exercise FROM=$(parent "$step" | cut -d _ -f 1)" >&2
    exit 2
  fi
  need_writable "${file%/*}" "$work/.state/$step"
  text=$(set -e; if [ -n "${FROM:-}" ]; then changed_from; else apart skeleton "$source"; fi)
  keep_aside "$file"
  write_whole "$file" <<<"$text"
  date +%F >"$work/.state/$step/started"
  echo "written: $file"
  if [ -n "${FROM:-}" ]; then # a participant may expect his own file
    echo "it begins as steps/$before/attention.cu, the lab's solution of step ${before%%_*}$(
      [ ! -f "$(work_file "$before")" ] || echo ", and not as your $(work_file "$before")"
    )"
  fi
  if [ -f "$file.bak" ]; then echo "what was there before: $file.bak"; fi
  say_parts_left "$file" || true
  if [ -n "${FROM:-}" ]; then
    echo "then: make step$number check; make step$number watch"
  else
    echo "then: make step$number check PART=1; make step$number hint PART=1; make step$number watch"
  fi
}

case $verb in
start)
  if [ -f "$file" ] && [ -z "${FORCE:-}" ]; then
    echo "error: $file is there already, and stays as it is: make step$number exercise ${FROM:+FROM=$FROM }FORCE=1 writes it" \
      "anew and keeps the old one as attention.cu.bak" >&2
    exit 2
  fi
  write
  ;;
reset)
  need_file "$step"
  write
  rm -f "$work/.state/$step"/hints.* "$work/.state/$step/check"
  ;;
fill)
  need_file "$step"
  if [ -n "${PART:-}" ] && [ -z "$(began_as "$file")" ]; then need_part "$step" "$PART"; fi
  if ! text=$(apart fill "$source" "$file"); then
    if [ -n "${PART:-}" ] && [ -z "$(began_as "$file")" ] &&
      grep -qF "// exercise: $(apart list "$source" | sed -n "$PART{s/^[0-9]*\t//;p}")" "$file"; then
      echo "error: part $PART of $file is filled already: it has the lab's lines" >&2
      exit 2
    fi
    echo "error: $file has no TODO${PART:+ $PART} that step $number has a solution for" >&2
    exit 2
  fi
  parts=${PART:-$(parts_left "$file" | cut -f 1 | paste -sd ' ')}
  if [ -z "$parts" ]; then
    echo "error: no part of $file is as the exercise left it: make step$number fill PART=$(first_todo) takes the lab's lines in" \
      "the place of yours" >&2
    exit 2
  fi
  text=$(PART=$parts apart fill "$source" "$file")
  need_writable "${file%/*}"
  keep_aside "$file"
  write_whole "$file" <<<"$text"
  echo "filled: part$([[ $parts != *' '* ]] || echo s) ${parts// /, } of $file (before: $file.bak)"
  if [ -z "${PART:-}" ] && [ -n "$(first_todo)" ]; then
    echo "parts with lines of yours stay: make step$number fill PART=$(first_todo) takes the lab's lines in their place"
  fi
  ;;
solution)
  need_file "$step"
  columns=${COLUMNS:-$([ -t 1 ] && tput cols 2>/dev/null || echo 200)}
  colour=$([ -t 1 ] && echo 1 || true)
  if [ -n "${PART:-}" ]; then
    need_part "$step" "$PART"
    if [ -n "$(began_as "$file")" ]; then
      echo "error: PART is \"$PART\": $file began as another step, and is one part: make step$number solution shows it" >&2
      exit 2
    fi
    solved=$(with_part)
  else
    solved=$(apart solution "$source")
  fi
  mine=$(without_marks "$file")
  # Of the lines of code that are shown: side by side a longer one would be cut.
  longest=$(diff -U 3 <(echo "$mine") <(echo "$solved") | tail -n +3 | grep -v '^. *//' | wc -L)
  if [ "$columns" -lt $((2 * longest + 3)) ]; then
    below_each_other
    exit
  fi
  echo "left: ${PART:+part $PART of }$file; right: the lab's"
  # The mark between the sides stands in the middle; lines near one are shown.
  diff --side-by-side --expand-tabs --width="$columns" \
    <(echo "$mine") <(echo "$solved") |
    awk -v middle=$((columns / 2)) -v colour="$colour" '
      { line[NR] = $0; mark[NR] = substr($0, middle, 1) }
      END {
        for (l = 1; l <= NR; l++)
          if (mark[l] ~ /[|<>]/)
            for (n = l - 2; n <= l + 2; n++) shown[n] = 1
        for (l = 1; l <= NR; l++) {
          if (!(l in shown)) continue
          if (last != l - 1) print "..."
          last = l
          on = mark[l] == "<" ? "\033[31m" : mark[l] == ">" ? "\033[32m" : "\033[33m"
          print (colour && mark[l] ~ /[|<>]/ ? on line[l] "\033[0m" : line[l])
        }
        if (!last) print "no difference"
      }'
  ;;
esac
