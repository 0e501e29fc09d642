#!/bin/bash -p
# Checks that every small fault of the steps is caught: scripts/mutants.sh [--seconds N] [--count N] [--seed N]
# STEP... Makes mutants of the steps given and of the headers in common/ that they read
# (common/tools/mutants/mutant.h): copies with one small fault each, such as a barrier that is left out. Builds each
# and gives it to `check` and to `sanitize` on the emulator, or with DEVICE=gpu to `check` on the GPU, JOBS at a
# time. A mutant of a header is tried in all steps that read it, those given first, until one catches it. Prints who
# caught what, and each survivor with its place. steps/NN_name/mutants.txt and common/tools/mutants/headers.txt say
# which mutants are no faults, each with its reason, and are tried in the steps given alone; a mutant with a reason that
# is caught nevertheless is reported. Exit status 1 when a mutant survives without a reason.
#
# With --seconds or --count only a sample is tried: after so many seconds no new mutant is begun. The sample has equally
# many mutants of each operator, in an order that the seed (1) repeats, without those that have a reason. OPERATORS="wait parity" leaves the other operators out.
# UNTRIED=1 leaves out the mutants that results/<device>/mutants.csv has a verdict of.
# FILES=softmax, an extended regular expression, leaves out the files whose names do not match. An index of 32 bits
# is wrong where a tensor has 2^31 elements: the operator `narrow` is for a GPU, and the only one that is tried
# there unless OPERATORS says otherwise.
#
# With RECORD=1 the result is written to results/<device>/mutants.csv, where the rows of other files stay. A mutant
# that the sample leaves out keeps the row of an earlier run, or is recorded as "not tried".
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
# shellcheck source=scripts/writable.sh
. scripts/writable.sh
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
# shellcheck source=scripts/mutant.sh
. scripts/mutant.sh
# shellcheck source=scripts/mutants_record.sh
. scripts/mutants_record.sh
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
mutant_device=${DEVICE:-cpu}
make_scratch "$mutant_folder"
# What make has built of the mutants and of the unchanged steps beside them lies in other folders.
trap 'remove_scratch; rm -rf build/*/elsewhere/build_.mutants_.$$_.*' EXIT
export CCACHE_DISABLE=1        # no mutant is compiled twice
export OMP_WAIT_POLICY=passive # several programs share the cores: none should wait by spinning

limit='' count='' seed=1
while [[ ${1:-} == --* ]]; do
  if ! [[ ${2:-} =~ ^[0-9]+$ ]]; then
    echo "error: $1 is \"${2:-}\": give a whole number" >&2
    exit 2
  fi
  case $1 in
  --seconds) limit=$2 ;;
  --count) count=$2 ;;
  --seed) seed=$2 ;;
  *) echo "error: $1 is none of --seconds, --count and --seed" >&2 && exit 2 ;;
  esac
  shift 2
done
if [ $# -eq 0 ]; then
  echo "error: give the steps whose mutants to try, such as 04_online_softmax" >&2
  exit 2
fi
if [ -n "${OPERATORS:-}" ] && [ -n "${RECORD:-}" ]; then
  echo "error: some of the operators alone are not recorded: leave OPERATORS out" >&2
  exit 2
fi
bug_seconds=600 # an endless kernel is ended by LAB_LIMIT, so this is for what the host does
bug_test_seconds=300
bug_limit=${LAB_LIMIT:-5} # seconds that a block may take: right ones take a fraction

# The files that all mutants share are built once, before several mutants are built at a time.
first=step${1%%_*}
if ! { bug_build "$mutant_device" '' steps mutants && bug_build "$mutant_device" '' steps "$first-check" &&
  { [ "$mutant_device" = gpu ] || bug_build cpu sanitize steps "$first"; } &&
  { [ -z "${RECORD:-}${UNTRIED:-}" ] || bug_build "$mutant_device" '' steps ladder; }; } >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  echo "error: the tests do not build, so no mutant can be tried" >&2
  exit 2
fi

# ---- What there is to try -----------------------------------------------------------------------

all_steps=$(cd steps && printf '%s\n' *_*/ | sed 's|/$||')
for step in $all_steps; do mutant_headers "$step" >"$scratch/$step.headers"; done

# list_mutants REASONS SOURCE...: the lines of `mutants list`, with the source in front.
list_mutants() {
  local reasons=()
  if [ -f "$1" ]; then reasons=(--reasons "$1"); fi
  "build/$mutant_device/mutants" list "${reasons[@]}" "${@:2}" >"$scratch/list" || exit 2
  awk -F '\t' -v OFS='\t' '{ source = $2; sub(/:[0-9]+:[0-9]+$/, "", source); print source, $0 }' "$scratch/list"
}
for step in "$@"; do
  list_mutants "steps/$step/mutants.txt" "steps/$step/attention.cu" || exit
done >"$scratch/mutants"
for step in "$@"; do cat "$scratch/$step.headers"; done >"$scratch/headers"
list_mutants common/tools/mutants/headers.txt common/kernel/*.cuh >"$scratch/of_headers" || exit
awk -F '\t' 'FNR == NR { read_by[$1]; next } $1 in read_by' "$scratch/headers" "$scratch/of_headers" >>"$scratch/mutants"
operators=${OPERATORS:-narrow}
if [ "$mutant_device" = cpu ]; then operators=${OPERATORS:-$(build/cpu/mutants operators | grep -vx narrow)}; fi
awk -F '\t' -v wanted=" ${operators//$'\n'/ } " -v files="${FILES:-.}" '
  index(wanted, " " $4 " ") && $1 ~ files' "$scratch/mutants" >"$scratch/wanted"
mv "$scratch/wanted" "$scratch/mutants"
cp "$scratch/mutants" "$scratch/whole"

if [ -n "${RECORD:-}${UNTRIED:-}" ]; then
  folder=${DATA:-results}/$("build/$mutant_device/ladder" --slug) || exit 2
fi
if [ -n "${RECORD:-}" ]; then need_writable "$folder"; fi # what takes hours is not lost in the end
if [ -n "${UNTRIED:-}" ]; then
  mutants_untried "$folder/mutants.csv" <"$scratch/mutants" >"$scratch/untried" && mv "$scratch/untried" "$scratch/mutants"
fi

# A sample takes mutants of the operators in turn.
if [ -n "$limit$count" ]; then
  awk -F '\t' -v seed="$seed" 'BEGIN { srand(seed) } $7 == "" { printf "%.9f\t%s\n", rand(), $0 }' "$scratch/mutants" |
    sort -n | awk -F '\t' '{ printf "%d\t%s\n", ++seen[$5], $0 }' | sort -s -n -k 1,1 | cut -f 3- |
    head -n "${count:-1000000}" >"$scratch/sample"
  mv "$scratch/sample" "$scratch/mutants"
fi
total=$(wc -l <"$scratch/mutants")
if [ "$total" -eq 0 ]; then
  echo "error: there is no mutant to try" >&2
  exit 2
fi

# readers SOURCE STEP...: the steps that its mutants are tried in, those given first.
readers() {
  local source=$1 step
  if [[ $source == steps/* ]]; then
    step=${source#steps/}
    echo "${step%%/*}"
    return
  fi
  shift
  for step in "$@" $all_steps; do
    if grep -qxF "$source" "$scratch/$step.headers"; then echo "$step"; fi
  done | awk '!seen[$0]++'
}

if [ "$mutant_device" = cpu ]; then
  mutant_precompile O0 && mutant_precompile O0 sanitize || exit 2
fi

# ---- Trying -------------------------------------------------------------------------------------

started=$SECONDS
tried=0
next_word=$((SECONDS + 60)) # where the output is not a terminal, a line for each minute
while IFS=$'\t' read -r source number _ _ _ _ reason; do
  [ -n "$limit" ] && [ $((SECONDS - started)) -ge "$limit" ] && break
  mapfile -t in_steps < <(readers "$source" "$@")
  mutant_given=$(printf '%s\n' "${in_steps[@]}" | grep -c -x -F -f <(printf '%s\n' "$@"))
  if [ -n "$reason" ]; then mapfile -t in_steps < <(printf '%s\n' "${in_steps[@]}" | grep -x -F -f <(printf '%s\n' "$@")); fi
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
  tried=$((tried + 1))
  if [ -t 2 ]; then
    printf '\rmutants: %d of %d: %s, number %d\033[K' "$tried" "$total" "$source" "$number" >&2
  elif [ "$SECONDS" -ge "$next_word" ]; then
    echo "mutants: $tried of $total are begun ($((SECONDS - started)) s)" >&2
    next_word=$((SECONDS + 60))
  fi
  mutant_hunt "$source" "$number" "$scratch" "${in_steps[@]}" </dev/null &
done <"$scratch/mutants"
wait
[ -t 2 ] && printf '\r\033[K' >&2

# ---- What came of it ----------------------------------------------------------------------------

# source, number, place, operator, change, key, reason, and then verdict, step, message.
head -n "$tried" "$scratch/mutants" | while IFS= read -r line; do
  IFS=$'\t' read -r source number _ <<<"$line"
  printf '%s\t%s\n' "$line" "$(cat "$scratch/${source//\//_}-$number.verdict")"
done | awk -F '\t' -v OFS='\t' '
  $8 == "survives" && $7 != "" { $8 = "reason" }
  $8 != "reason" && $8 != "same" && $7 != "" { $8 = "wrong reason: " $8 }
  { print }' >"$scratch/results"

# table COLUMN TITLE: how many of each kind, by what stands in the column.
table() {
  awk -F '\t' -v OFS='\t' -v column="$1" -v title="$2" '
    BEGIN { kinds = split("compile check sanitize hang same reason survives", kind, " ") }
    {
      name = $column
      sub(/\/attention\.cu$/, "", name)
      if (!(name in count)) names[++rows] = name
      count[name]++
      verdict = $8
      sub(/^wrong reason: /, "", verdict)
      of[name, verdict]++
      all[verdict]++
    }
    function row(name, of_all,  i, line) {
      line = name OFS (of_all ? NR : count[name])
      for (i = 1; i <= kinds; i++) line = line OFS (of_all ? all[kind[i]] : of[name, kind[i]]) + 0
      print line
    }
    END {
      print title, "mutants", "compiler", "check", "sanitize", "hangs", "same code", "reason", "survives"
      for (i = 1; i <= rows; i++) row(names[i])
      row("all", 1)
    }' "$scratch/results" | awk -f scripts/align.awk
}
table 1 source
echo
table 4 operator
echo

# show VERDICT WORD: each mutant with its lines of source, and what was said of it, or the key that its reason would
# have.
show() {
  awk -F '\t' -v OFS='\t' -v wanted="$1" 'index($8, wanted) == 1 { print $3, $5, ($10 != "" ? $8 ": " $10 : "key: " $6) }' \
    "$scratch/results" | while IFS=$'\t' read -r place change words; do
    local line=${place#*:}
    printf '%s  %s  %s\n' "$2" "$place" "$change"
    awk -v line="${line%%:*}" 'NR >= line - 1 && NR <= line + 1 { printf "    %4d  %s\n", NR, $0 }' "${place%%:*}"
    printf '    %s\n' "$words"
  done
}
show survives SURVIVES
show unknown UNKNOWN
show 'wrong reason' CAUGHT

if [ -n "${RECORD:-}" ]; then
  mkdir -p "$folder" && exec 9<"$folder" && flock 9 || exit 2
  awk -F '\t' -v OFS='\t' '{
    split($3, at, ":")
    print $1, at[2], at[3], $4, $5, ($8 == "" ? "not tried" : $8), $9, $10, $7
  }' "$scratch/results" <(grep -v -x -F -f <(head -n "$tried" "$scratch/mutants") "$scratch/whole") >"$scratch/rows"
  mapfile -t sources < <(cut -f 1 "$scratch/rows" | sort -u)
  mutants_merge "$folder/mutants.csv" "$scratch/rows" "${sources[@]}" >"$scratch/mutants.csv" &&
    write_whole "$folder/mutants.csv" <"$scratch/mutants.csv" || exit 2
  echo "written: $folder/mutants.csv"
fi

number_of() { awk -F '\t' -v wanted="$1" 'index($8, wanted) == 1 { n++ } END { print n + 0 }' "$scratch/results"; }
survivors=$(number_of survives) unknown=$(number_of unknown) wrong=$(number_of 'wrong reason')
words="$tried of $total mutants tried ($((SECONDS - started)) s)"
if [ "$unknown" -gt 0 ]; then
  echo "mutants: $words: of $unknown nothing is known, because a tool did not run"
  exit 2
elif [ "$((survivors + wrong))" -gt 0 ]; then
  echo "mutants: $words: $survivors survive without a reason; $wrong have one and are caught all the same"
  exit 1
fi
echo "mutants: $words: none survives without a reason"
