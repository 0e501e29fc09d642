# shellcheck shell=bash
# Functions for one planted bug, its patch, its build, and the answers of the tools. bugs.sh sources this file from
# the root of the lab. Variants of a step (variants.sh) are patches of the same form, in steps/NN_name/variants.

# shellcheck source=scripts/finished.sh
. "${BASH_SOURCE[0]%/*}/finished.sh"

bug_limit=${LAB_LIMIT:-20} # seconds of a launch, which is ended then and hangs, see common/emulator/README.md
bug_test_seconds=120  # and so does one test of the suite
bug_seconds=300       # a tool that takes longer has not come to an answer
bug_left_out='more_*_than_a_grid*' # tests of the suite, as a glob
bug_not_run=99        # exit status when a tool has not come to an answer

# bug_share_machine DEVICE: for a script that runs several programs at a time. They share the cores, so none should
# wait by spinning; on a GPU each takes its part of the cores for the reference. A suite takes longer there, because the
# driver makes one context at a time, and each test needs one.
bug_share_machine() {
  export OMP_WAIT_POLICY=passive
  if [ "$1" = gpu ]; then
    local threads=$(($(nproc) / ${JOBS:-$(nproc)}))
    export OMP_NUM_THREADS=$((threads > 0 ? threads : 1))
    bug_left_out+='|of_flash_attention' # seconds of the reference
    bug_seconds=600
  fi
}

# bug_id PATCH: such as 04_online_softmax-1_output_not_rescaled.
bug_id() {
  local step=${1%/*/*}
  echo "${step##*/}-$(basename "$1" .patch)"
}

# bug_field PATCH NAME: the value of a line of the patch's head, such as Title.
bug_field() {
  awk -v name="$2: " '
    /^--- / { exit }
    index($0, name) == 1 { print substr($0, length(name) + 1); exit }' "$1"
}

# bug_folder DEVICE MODE STEPS_FOLDER: where make/config.mk has the programs of these steps built, which depends on
# FIRST_CONFIGURATION.
bug_folder() {
  local build=build/$1${2:+-$2} name=${3//_/__}
  if [ "$3" != steps ]; then build+=/elsewhere/${name//\//_.}; fi
  echo "$build${FIRST_CONFIGURATION:+.quick}"
}

# bug_build DEVICE MODE STEPS_FOLDER PROGRAM [VARIABLE=...]: builds PROGRAM, such as step04-check, with the
# rules of make/build.mk, and prints where it lies. On the emulator make need not look up what each step is made for.
# STEPS may name steps that are not in STEPS_FOLDER, as in make variants STEPS="04_online_softmax 05_wmma".
bug_build() {
  local build made_for=()
  build=$(bug_folder "$1" "$2" "$3")
  if [ "$1" = cpu ]; then made_for=(MADE_FOR=); fi
  MAKEFLAGS='' MAKELEVEL='' env -u STEPS make --no-print-directory --silent -f make/build.mk "DEVICE=$1" "MODE=$2" \
    DEBUG='' SANITIZE='' "${made_for[@]}" "STEPS_FOLDER=$3" "${@:5}" "$build/$4" >&2 && echo "$build/$4"
}

# bug_build_said LOG: the line of a build that failed which tells why: its first error, else its first warning, else its
# last line, such as make's about a rule that there is not.
bug_build_said() {
  grep -a -m 1 -i error "$1" || grep -a -m 1 -i warning "$1" || tail -n 1 "$1"
}

# bug_apply PATCH FOLDER: puts the changed copy of the step into FOLDER/steps, and leaves the file alone
# where it is there already, so that it is not built again.
bug_apply() {
  local patch=$1 folder=$2 step=${1%/*/*}
  step=${step##*/}
  rm -rf "$folder/new" && mkdir -p "$folder/new/steps/$step" "$folder/steps/$step" &&
    cp "steps/$step/attention.cu" "$folder/new/steps/$step/" &&
    patch --directory="$folder/new" --strip=1 --fuzz=0 --batch --no-backup-if-mismatch \
      --reject-file=- <"$patch" || return
  if ! cmp -s "$folder/new/steps/$step/attention.cu" "$folder/steps/$step/attention.cu"; then
    mv "$folder/new/steps/$step/attention.cu" "$folder/steps/$step/attention.cu"
  fi
  rm -rf "$folder/new"
}

# bug_first_line LOG: what a tool said first: a report of the emulator or of compute-sanitizer, else the
# sentence of the first test that failed, else which kernel no shape reaches. The lines of a test that passes are left
# out, such as the emulator's report of a mistake that it makes on purpose, and so are addresses, which differ each time.
bug_first_line() {
  sed 's/\x1b\[[0-9;]*m//g; s/ at address 0x[0-9a-f]*//' "$1" | tr '\t' ' ' | awk '
    /^\[PASS\]/ { found = said = died = ""; asserted = 0 }
    /^========= / && !/COMPUTE-SANITIZER|ERROR SUMMARY/ && !found { found = substr($0, 11) }
    /Assertion [Ff]ailed/ { asserted = 1; next }
    asserted && !said && sub(/^\[----\] +/, "") && $0 != "" { said = $0 }
    /Unexpected signal|Timed out|ended its process|^error: / && !died { sub(/^\[[-A-Z]*\] +/, ""); died = $0 }
    unreached && !died { sub(/^ +/, " "); died = unreached $0 }
    /^  FAIL  .* has kernels that no shape/ { unreached = substr($0, 9) }
    END { print (found != "" ? found : said != "" ? said : died) }'
}

# bug_verdict STATUS LOG: caught, passes, hangs, unfinished or unknown, and a tab, and the first line of the message.
bug_verdict() {
  case $1 in
  0) printf 'passes\t' ;;
  "$bug_not_run") printf 'unknown\t%s' "$(head -n 1 "$2")" ;;
  124 | 137) printf 'unfinished\tstill running after %s s' "$bug_seconds" ;;
  *)
    if grep -q -i 'timed out' "$2"; then printf 'hangs\t'; else printf 'caught\t'; fi
    bug_first_line "$2"
    ;;
  esac
}

# bug_check PROGRAM LOG [FILTER]: the suite up to its first failure, or the tests whose names fit the glob; less the
# tests that take a minute each: on the emulator those that are there for the size of the grid alone.
bug_check() {
  # Criterion takes a program for one of its workers that finds this variable: when a test runs us.
  env -u BXFI_MAP LAB_LIMIT="$bug_limit" timeout --kill-after=5 "$bug_seconds" "$1" --jobs 1 --fail-fast \
    --verbose --timeout "$bug_test_seconds" --filter "${3:-*/!($bug_left_out)}" >"$2" 2>&1
  local status=$?
  # Each test is a process of its own, so the program itself ends normally, whatever a test does.
  if [ $status -eq 0 ]; then
    tests_passed 0 "$2" || status=$bug_not_run
  elif [ $status -ne 124 ] && [ $status -ne 137 ]; then
    grep -q 'Tested: *[1-9]' "$2" || status=$bug_not_run
  fi
  return $status
}

# bug_sanitize DEVICE PROGRAM STEP LOG: the shapes of sanitize_shapes.txt up to the first finding.
bug_sanitize() {
  local script=scripts/sanitize.sh limit=$bug_limit status
  # NVIDIA's tools slow a kernel down so much that only a person can tell a slow one from an endless one.
  if [ "$1" = gpu ]; then script=scripts/sanitize_gpu.sh limit=0; fi
  # One order of threads for the emulator's; two runs at a time for NVIDIA's, which is no faster alone.
  LAB_LIMIT=$limit SEEDS=1 FIRST=1 JOBS=2 timeout --kill-after=5 "$bug_seconds" $script "${2%/*}" "$3" >"$4" 2>&1
  status=$?
  if [ $status -eq 2 ]; then status=$bug_not_run; fi # the script could not do its work
  return $status
}

# bug_names PATCH TOOL: whether the patch says that the tool catches it.
bug_names() { [[ ", $(bug_field "$1" Caught-by)," == *", $2,"* ]]; }

# bug_runs DEVICE PATCH TOOL: whether the tool is tried on the bug: both are, but with NAMED those alone that the patch
# names, and sanitize on a GPU as well: each shape and tool of compute-sanitizer takes as long as all of the emulator's.
# ONLY is the one tool that is tried at all.
bug_runs() {
  [ "${ONLY:-$3}" = "$3" ] || return
  bug_names "$2" "$3" || { [ -z "${NAMED:-}" ] && [ "$1/$3" != gpu/sanitize ]; }
}

# bug_few DEVICE PATCH: 1 where one configuration and one element type for each head_dim are enough, which is on a GPU
# and for NAMED=1; the others are most of what there is to compile. A patch whose bug shows in others says
# `Configurations: all`.
bug_few() {
  if [ "$1${NAMED:+ named}" != cpu ] && [ "$(bug_field "$2" Configurations)" != all ]; then
    echo 1
  fi
}

# bug_can_show DEVICE PATCH: whether this machine can show the bug. Without an instruction for a product and a sum, which
# x86 processors have from 2013 on, the emulator's compiler has nothing to fuse them into.
bug_can_show() {
  [ "$(bug_field "$2" Contracted)" != yes ] || [ "$1" = gpu ] ||
    ${CXX:-g++} -march=native -dM -E -x c++ /dev/null | grep -q -E '__FMA__|__ARM_FEATURE_FMA'
}

# bug_turn DEVICE SCRATCH NUMBER COMMAND...: the command, on a GPU one of four at a time, because more only wait for the
# driver.
bug_turn() {
  if [ "$1" != gpu ]; then "${@:4}"; else (flock 8 && "${@:4}") 8>"$2/turn.$(($3 % 4))"; fi
}

# bug_hunt DEVICE PATCH SCRATCH NUMBER: leaves SCRATCH/<id>.row, the first seven columns of bugs.csv with tabs
# between them, and SCRATCH/<id>.problem, a sentence when the bug is not caught as it should be. Bugs have different
# numbers.
bug_hunt() {
  local device=$1 patch=$2 id step number program problem='' folder mode=''
  local check=$'-\t' sanitize=$'-\t'
  id=$(bug_id "$patch")
  step=${id%%-*}
  number=${step%%_*}
  folder=build/bugs/$id
  local log=$3/$id few test=''
  few=$(bug_few "$device" "$patch")
  if [ -n "${NAMED:-}" ]; then
    test=$(bug_field "$patch" Test)
    # A program that is to hang need not do so for long.
    if [[ $(bug_field "$patch" Expect) == *'timed out'* ]]; then local bug_limit=${LAB_LIMIT:-5}; fi
  fi
  # The compiler's time is most of it: what runs so shortly need not be fast. nvcc takes the macros alone.
  # With NAMED, what is expected of check names no line of the source, so the program for it is compiled without lines.
  local optimised=-O0
  if [ "$(bug_field "$patch" Inlined)" = yes ]; then optimised=''; fi
  if [ "$(bug_field "$patch" Contracted)" = yes ]; then optimised=-O2; fi
  local flags="STEP_FLAGS=$optimised${few:+ -DLAB_ONE_TYPE}"
  if [ "$device" = cpu ]; then mode=sanitize; fi
  if [ -n "$few" ]; then # the tests that ask for the others
    local bug_left_out="$bug_left_out|t4|l4|a100|a_named_*"
  fi
  if ! bug_apply "$patch" "$folder" >"$log.patch" 2>&1; then
    problem="the patch no longer applies to steps/$step/attention.cu: $(grep -m 1 FAILED "$log.patch")"
  else
    if bug_runs "$device" "$patch" check; then
      if program=$(FIRST_CONFIGURATION=$few bug_build "$device" '' "$folder/steps" "step$number-check" "$flags${few:+ -g0}" 2>"$log.build"); then
        bug_turn "$device" "$3" "$4" bug_check "$program" "$log.check" ${test:+"$test"}
        check=$(bug_verdict $? "$log.check")
      else
        problem="it does not compile: $(bug_build_said "$log.build")"
      fi
    fi
    if [ -z "$problem" ] && bug_runs "$device" "$patch" sanitize; then
      if program=$(FIRST_CONFIGURATION=$few bug_build "$device" "$mode" "$folder/steps" "step$number" "$flags" 2>"$log.build"); then
        bug_sanitize "$device" "$program" "$step" "$log.sanitize"
        sanitize=$(bug_verdict $? "$log.sanitize")
      else
        problem="it does not compile for sanitize: $(bug_build_said "$log.build")"
      fi
    fi
    [ -n "$problem" ] ||
      problem=$(bug_judge "$device" "$patch" "${check%%$'\t'*}" "${sanitize%%$'\t'*}" "$log".{check,sanitize})
  fi
  printf '%s' "$problem" >"$log.problem"
  printf '%s\t%s\t%s\t%s\t%s\n' "$step" "${id#*-}" "$(bug_field "$patch" Title)" "$check" "$sanitize" >"$log.row"
}

# bug_judge DEVICE PATCH CHECK SANITIZE LOG...: prints what is wrong with the verdicts, if anything is. On a
# GPU only of bugs that check alone catches by a result: what sanitize and the emulator report, accesses and missing
# barriers, need not show in a result there, and NVIDIA's tools see less than the emulator's.
bug_judge() {
  local expect results='wrong|lse|nan|differs|failed' # words about a result that tests say
  expect=$(bug_field "$2" Expect)
  if [ -z "$(bug_field "$2" Title)" ] || [ -z "$expect" ] || [ -z "$(bug_field "$2" Story)" ]; then
    echo "its head lacks a Title, an Expect or a Story"
  elif ! bug_names "$2" check && ! bug_names "$2" sanitize; then
    echo "Caught-by names no tool: give check, sanitize or both"
  elif [[ $3$4 == *unknown* ]]; then
    echo "a tool did not run: $(cat "${@:5}" 2>/dev/null | head -n 1)"
  elif [ "$3" = unfinished ]; then
    echo "check has not come to its end in $bug_seconds s"
  elif [ "$1" = gpu ] && { bug_names "$2" sanitize || ! [[ $expect =~ $results ]]; }; then
    return
  elif ! bug_can_show "$1" "$2"; then
    return
  elif bug_names "$2" check && [ "$3" = passes ]; then
    echo "check does not catch it${NAMED:+$(bug_field "$2" Test | sed 's/^/ in the test /')}"
  elif bug_names "$2" sanitize && [ "$4" = passes ]; then
    echo "sanitize does not catch it"
  elif ! cat "${@:5}" 2>/dev/null | grep -q -i -F -e "$expect"; then
    echo "it is caught, but no tool says \"$expect\""
  fi
}

# record_rows ROWS COLUMNS: the first COLUMNS tab-separated fields of the rows as CSV, with $commit and $date behind
# them.
record_rows() {
  awk -F '\t' -v commit="$commit" -v date="$date" -v columns="$2" '{
    $(columns + 1) = commit; $(columns + 2) = date
    for (i = 1; i <= columns + 2; i++) {
      gsub(/"/, "\"\"", $i)
      printf "%s\"%s\"", (i > 1 ? "," : ""), $i
    }
    print ""
  }' "$1"
}

# bugs_merge OLD_CSV ROWS STEP...: prints the new bugs.csv. It has the file's rows of all steps but these, and ROWS,
# as bug_hunt leaves them, with $commit and $date. The file need not exist.
bugs_merge() {
  local old=$1 rows=$2
  echo step,bug,title,check,check_message,sanitize,sanitize_message,commit,date
  {
    if [ -f "$old" ]; then tail -n +2 "$old" | grep -v -F "${@/#/-e\"}" || true; fi
    record_rows "$rows" 7
  } | sort --stable --field-separator=, --key=1,1
}
