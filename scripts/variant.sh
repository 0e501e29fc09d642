# shellcheck shell=bash
# Functions for one variant of a step, its patch, its copy of the step, and the test that it is right. To be sourced
# from the root of the lab behind planted_bug.sh, by variants.sh and diff.sh. variants.sh tells the form of a patch.

# shellcheck source=scripts/writable.sh
. "${BASH_SOURCE[0]%/*}/writable.sh"

# variant_patches STEP: the step's patches, a line each.
variant_patches() {
  local patch
  for patch in "${PATCHES:-steps}/$1/variants/"*.patch; do
    if [ -f "$patch" ]; then echo "$patch"; fi
  done
}

# variant_patch STEP NAME: the patch of that name; says in a sentence which names there are where there is none.
variant_patch() {
  local patch=${PATCHES:-steps}/$1/variants/$2.patch
  if ! [ -f "$patch" ]; then
    echo "error: $1 has no variant '$2': it has $(variant_patches "$1" | sed 's|.*/||; s|\.patch$||' | paste -sd , |
      sed 's/,/, /g; s/^$/none/')" >&2
    return 2
  fi
  echo "$patch"
}

# variant_copy PATCH [FOLDER]: puts the changed copy of the step where make finds it, and prints that folder of steps.
# A build without optimisation lies in another FOLDER than the build that is timed.
variant_copy() {
  local folder
  folder=build/${2:-variants}/$(bug_id "$1")
  (need_writable "$folder") && bug_apply "$1" "$folder" >&2 && echo "$folder/steps"
}

# variant_expect PATCH: what was expected of it, in one line.
variant_expect() {
  awk '
    /^--- / { exit }
    sub(/^Expect: */, "") { inside = 1; text = $0; next }
    !/^ / { inside = 0 }
    inside { sub(/^ +/, ""); text = text " " $0 }
    END { print text }' "$1"
}

# variant_try DEVICE PATCH SCRATCH: leaves SCRATCH/<id>.row, the variant and the verdicts of check and sanitize with
# tabs between them, and SCRATCH/<id>.problem, a sentence when the variant is not as it must be. With SHORT=1 the
# program that is sanitized also compares its results with the reference, and the suite is left out. With RECORD=1
# only the library that the ladder times is built: the ladder compares its results with the reference.
variant_try() {
  local device=$1 patch=$2 id step number steps program problem='' check=$'-\t' sanitize=$'-\t'
  id=$(bug_id "$patch")
  step=${id%%-*}
  number=${step%%_*}
  local log=$3/$id build=(WERROR=1) folder=variants every='' few='' built=step$number-check left_out
  left_out=$(bug_field "$patch" Leaves-out)
  local bug_left_out=$bug_left_out${left_out:+|$left_out}
  if [ "$(bug_field "$patch" Configurations)" = fewer ]; then
    every=1
    bug_left_out+='|each_is_sanitized' # in each configuration of the step
  fi
  if [ -n "${RECORD:-}" ]; then built=step$number.so; fi
  if [ -n "${SHORT:-}" ]; then # no fault is expected, whose report would name a line
    build+=("STEP_FLAGS=-g0 -DLAB_ONE_DIM")
    folder=variants/short every=1 few=1
  fi
  if [ -z "$(bug_field "$patch" Title)" ] || [ -z "$(variant_expect "$patch")" ]; then
    problem="its head lacks a Title or an Expect"
  elif ! [[ $(bug_field "$patch" Kind) =~ ^(addition)?$ ]]; then
    problem="its head says Kind: $(bug_field "$patch" Kind), and the only kind that a head names is addition"
  elif ! steps=$(variant_copy "$patch" "$folder" 2>"$log.patch"); then
    problem="the patch no longer applies to steps/$step/attention.cu: $(grep -m 1 FAILED "$log.patch")"
  elif [ -z "${SHORT:-}" ] && ! program=$(bug_build "$device" '' "$steps" "$built" "${build[@]}" 2>"$log.build"); then
    problem="it does not compile: $(bug_build_said "$log.build")"
  elif [ -z "${RECORD:-}" ]; then
    if [ -z "${SHORT:-}" ]; then
      bug_check "$program" "$log.check"
      check=$(bug_verdict $? "$log.check")
    fi
    if [ "$device" = gpu ]; then
      :
    elif program=$(FIRST_CONFIGURATION=$few bug_build cpu sanitize "$steps" "step$number" "${build[@]}" 2>"$log.build"); then
      EVERY=$every ONE_DIM=$few CHECKED=1 bug_sanitize cpu "$program" "$step" "$log.sanitize"
      sanitize=$(bug_verdict $? "$log.sanitize")
    else
      problem="it does not compile for sanitize: $(bug_build_said "$log.build")"
    fi
    problem+=$(variant_judge check "$check")$(variant_judge sanitize "$sanitize")
  fi
  printf '%s' "$problem" >"$log.problem"
  printf '%s\t%s\t%s\t%s\n' "$id" "${check%%$'\t'*}" "${sanitize%%$'\t'*}" "$(bug_field "$patch" Title)" >"$log.row"
}

# variant_judge TOOL VERDICT: prints what is wrong with a verdict of bug_verdict, if anything is.
variant_judge() {
  case $2 in
  passes* | -*) ;;
  caught*) echo "$1 finds a fault: ${2#*$'\t'}" ;;
  hangs* | unfinished*) echo "it hangs under $1: ${2#*$'\t'}" ;;
  *) echo "$1 did not run: ${2#*$'\t'}" ;;
  esac
}
