# shellcheck shell=bash
# One mutant (common/tools/mutants/mutant.h): its build, and which tool catches it. To be sourced from the root of the
# lab behind planted_bug.sh, by mutants.sh.
#
# The tools run from the fastest to the slowest, in four stages, until one catches the mutant: mutant_first,
# mutant_all, mutant_few and mutant_optimised. A mutant of a header goes through the first two in the steps that were
# given, then in all others that read it, and through each of the last two in all of them: most are caught in seconds by
# the first stage of some step, and the last stage takes minutes. On a GPU nvcc takes most of the time, and the whole
# suite is the only stage.

# Tests, as globs: those that find most in two seconds, these with those of the choice of a configuration, which steps for
# several GPUs do not have, all that do not ask for other configurations, and all but those that take minutes on the emulator.
mutant_quick='@(@(inputs|group|large_scores)/@(normal|ramp|lengths_that_differ|fp16)|@(configurations|interface)/*)'
mutant_choice="@($mutant_quick|other_gpus/*)"
mutant_few='*/!(more_heads*|t4|l4|a100|a_named_*|each_is_sanitized)'
mutant_whole='*/!(more_heads*)'
mutant_device=cpu               # or gpu, which runs the suite alone
mutant_given=99                 # how many of the steps to try a mutant in come first
mutant_folder=build/mutants/$$  # the sources under test; another run has another number

# mutant_headers STEP: the headers with kernel code in common/ that a step reads, one a line.
mutant_headers() {
  local next=("steps/$1/attention.cu") seen=' ' file header
  while [ ${#next[@]} -gt 0 ]; do
    file=${next[0]}
    next=("${next[@]:1}")
    while read -r header; do
      if [[ $seen != *" $header "* ]] && [ -f "common/kernel/$header" ]; then
        seen+="$header "
        next+=("common/kernel/$header")
      fi
    done < <(sed -n 's/^#include "\(.*\.cuh\)".*/\1/p' "$file")
  done
  tr ' ' '\n' <<<"$seen" | sed '/^$/d; s|^|common/kernel/|'
}

# mutant_compiler LEVEL [MODE]: the compiler of kernels and its options.
mutant_compiler() {
  make --no-print-directory --silent -f make/build.mk DEVICE=cpu "MODE=${2:-}" DEBUG='' SANITIZE='' \
    "OPTIMISE=-$1 -DNDEBUG" kernel-flags
}

# mutant_precompile LEVEL [MODE]: compiles the stand-in headers of the emulator, which no mutant changes and which
# are most of what there is to compile, into mutant_folder.
mutant_precompile() {
  local folder=$mutant_folder/$1${2:-} command
  mkdir -p "$folder" || return
  { # C sources are compiled with the same flags
    echo '#ifdef __cplusplus'
    printf '#include "%s"\n' attention.h cuda.h cuda_bf16.h cuda_fp16.h cuda_pipeline.h mma.h hopper_functions.h \
      ptx_functions.h limits.h string.h type_traits
    echo '#endif'
  } >"$folder/stand_ins.h"
  command=$(mutant_compiler "$@") || return
  # clang would take what is precompiled for C sources, too, and refuses it there.
  if [[ $command == *clang* ]]; then return; fi
  $command -x c++-header "$folder/stand_ins.h" -o "$folder/stand_ins.h.gch"
}

# mutant_copy FOLDER STEP: the step's source and the headers that it reads, as they are.
mutant_copy() {
  local headers
  mapfile -t headers < <(mutant_headers "$2")
  mkdir -p "$1/steps/$2" && cp "steps/$2/attention.cu" "${headers[@]}" "$1/steps/$2/"
}

# mutant_build FOLDER STEP LEVEL [MODE]: builds the suite of the step in FOLDER/steps, or with MODE its program,
# with optimisation LEVEL, and prints where it lies. Objects and reports contain the paths of the lab's own step, so
# that objects can be compared.
mutant_build() {
  local program=step${2%%_*} from=$1/steps/$2
  if [ -z "${4:-}" ]; then program+=-check; fi
  if [ "$mutant_device" = gpu ]; then # nvcc looks for headers beside the source first, and keeps to its own options
    bug_build gpu '' "$1/steps" "$program"
    return
  fi
  bug_build cpu "${4:-}" "$1/steps" "$program" \
    "OPTIMISE=-$3 -DNDEBUG -include $mutant_folder/$3${4:-}/stand_ins.h -I$from -ffile-prefix-map=$from=common \
    -ffile-prefix-map=$from/attention.cu=steps/$2/attention.cu"
}

# mutant_object FOLDER STEP: where its object lies.
mutant_object() { echo "$(bug_folder cpu '' "$1/steps")/steps/$2/attention.cu.o"; }

# mutant_unchanged STEP LEVEL: the folder of the unchanged step.
mutant_unchanged() { echo "$mutant_folder/unchanged-$1-$2${FIRST_CONFIGURATION:+-first}"; }

# mutant_reference STEP LEVEL: builds the unchanged step with the flags of a mutant, once, and keeps its object and its
# suite.
mutant_reference() {
  local folder
  folder=$(mutant_unchanged "$1" "$2")
  (
    flock 9 || exit
    [ -e "$folder/built" ] && exit
    { [ -e "$mutant_folder/$2" ] || mutant_precompile "$2"; } && mutant_copy "$folder" "$1" &&
      mutant_build "$folder" "$1" "$2" >"$folder/program" && : >"$folder/built"
  ) 9>"$mutant_folder/lock"
}

# mutant_reference_passes STEP LEVEL FILTER: tells whether the unchanged step passes these tests, which run once. Where
# it does not, as where a test asks for a configuration that is not compiled, they say nothing of a mutant.
mutant_reference_passes() {
  local folder answer
  folder=$(mutant_unchanged "$1" "$2")
  answer=$folder/$(cksum <<<"$3" | tr ' ' -)
  (
    flock 9 || exit
    [ -e "$answer" ] && exit
    bug_check "$(cat "$folder/program")" "$answer.log" "$3"
    echo $? >"$answer"
  ) 9>"$answer.lock"
  [ "$(cat "$answer")" = 0 ]
}

# mutant_is_same FOLDER STEP LEVEL: tells whether the mutant's object code is that of the lab's own step. Then no
# test can or must tell the two apart.
mutant_is_same() {
  cmp -s "$(mutant_object "$1" "$2")" "$(mutant_object "$(mutant_unchanged "$2" "$3")" "$2")"
}

# mutant_is_seen FOLDER STEP: tells whether the compiler sees the mutant: whether the text of the step differs behind the
# preprocessor, with one configuration or with all. A header has parts that only some of the steps take.
mutant_is_seen() {
  local compiler text flag
  compiler=$(mutant_compiler O0) || return 0
  for flag in -ULAB_FIRST_CONFIGURATION -DLAB_FIRST_CONFIGURATION; do
    text=$($compiler $flag -E -P -x c++ "$1/steps/$2/attention.cu" 2>/dev/null) &&
      [ "$text" = "$($compiler $flag -E -P -x c++ "steps/$2/attention.cu")" ] || return 0
  done
  return 1
}

# mutant_caught TOOL STEP VERDICT: prints the verdict of bug_verdict as a stage does. Status 1 where the tool
# has caught nothing.
mutant_caught() {
  case $3 in
  caught*) printf '%s\t%s\t%s' "$1" "$2" "${3#*$'\t'}" ;;
  hangs* | unfinished*) printf 'hang\t%s\t%s' "$2" "${3#*$'\t'}" ;;
  unknown*) printf 'unknown\t%s\t%s' "$2" "${3#*$'\t'}" ;;
  *) return 1 ;;
  esac
}

# mutant_check PROGRAM STEP LOG LEVEL FILTER: prints what a stage does if one of these tests of the suite catches the
# mutant. Status 1 where none does.
mutant_check() {
  local verdict
  bug_check "$1" "$3" "$5"
  verdict=$(bug_verdict $? "$3")
  if [[ $verdict == caught* ]] && [ "$mutant_device" = cpu ] && ! mutant_reference_passes "$2" "$4" "$5"; then
    verdict=$'unknown\tthe unchanged step fails as well: '${verdict#*$'\t'}
  fi
  mutant_caught check "$2" "$verdict"
}

# mutant_sanitize FOLDER STEP LOG [few]: the same for the sanitizer, with all shapes of the step or with those of
# every step. Where it can take no shape it shows nothing: the suite says whether it may.
mutant_sanitize() {
  local EVERY=${4:+1} program status
  export EVERY
  if ! program=$(mutant_build "$1" "$2" O0 sanitize 2>"$3"); then # what it alone compiles differs by a constant
    printf 'compile\t%s\t%s' "$2" "$(grep -m 1 -i 'error: ' "$3" | tr '\t' ' ')"
    return
  fi
  bug_sanitize cpu "$program" "$2" "$3"
  status=$?
  # shellcheck disable=SC2154 # of planted_bug.sh
  [ "$status" -ne "$bug_not_run" ] && mutant_caught sanitize "$2" "$(bug_verdict $status "$3")"
}

# mutant_suite FOLDER STEP LOG LEVEL: builds the suite of the mutant, and leaves its place in `program`. Where there is
# nothing to run it prints the verdict: the mutant does not compile, or its object code is that of the lab's own step.
# Status 1 where there is.
mutant_suite() {
  if ! mutant_reference "$2" "$4" 2>"$3"; then # which compiles the stand-in headers as well
    printf 'unknown\t%s\t%s' "$2" "$(head -n 1 "$3" | tr '\t' ' ')"
  elif ! program=$(mutant_build "$1" "$2" "$4" 2>"$3"); then
    printf 'compile\t%s\t%s' "$2" "$(grep -m 1 -i 'error: ' "$3" | tr '\t' ' ')"
  elif mutant_is_same "$1" "$2" "$4"; then
    printf 'same\t%s\t' "$2"
  else
    return 1
  fi
}

# ---- The stages ---------------------------------------------------------------------------------
#
# Each takes FOLDER STEP LOG and prints, with tabs between, what catches the mutant in FOLDER in this step, the step,
# and the message. The first is compile, check, sanitize, hang, same (object code), survives, or unknown when a
# tool did not run. A stage prints nothing where the next one has to say.

# mutant_has_others FOLDER STEP: tells whether the step has more than one configuration.
mutant_has_others() { awk '/^  X\(/ { n++ } END { exit !(n > 1) }' "$1/steps/$2/"* 2>/dev/null; }

# In one configuration and without optimisation, because the other configurations are most of what there is to
# compile: the tests that find most, and the sanitizer with the shapes of every step. If the object code is that of
# the lab's own step there is nothing to run; mutant_all says whether that holds for the other configurations as well.
mutant_first() {
  local FIRST_CONFIGURATION='' program
  export FIRST_CONFIGURATION
  if mutant_has_others "$1" "$2"; then FIRST_CONFIGURATION=1; fi
  if ! mutant_is_seen "$1" "$2"; then
    printf 'same\t%s\t' "$2"
    return
  fi
  mutant_suite "$@" O0 >/dev/null || mutant_check "$program" "$2" "$3" O0 "$mutant_quick" ||
    mutant_sanitize "$1" "$2" "$3" few
}

# In all configurations the tests that find most, those of the choice of a configuration, and the sanitizer with all
# shapes of the step.
mutant_all() {
  local program
  mutant_suite "$@" O0 || mutant_check "$program" "$2" "$3" O0 "$mutant_choice" || mutant_sanitize "$1" "$2" "$3"
}

# In the first configuration the other tests, which take longer than the sanitizer. A step that has no others meets
# them in the last stage.
mutant_few() {
  local FIRST_CONFIGURATION=1 program
  export FIRST_CONFIGURATION
  mutant_has_others "$1" "$2" || return
  mutant_suite "$@" O0 >/dev/null || mutant_check "$program" "$2" "$3" O0 "$mutant_few"
}

# With optimisation, where the object code may be the same again, the whole suite.
mutant_optimised() {
  local program
  mutant_suite "$@" O2 || mutant_check "$program" "$2" "$3" O2 "$mutant_whole" || printf 'survives\t%s\t' "$2"
}

# The only stage of a GPU. nvcc keeps to its own options.
mutant_gpu() {
  local program
  if ! program=$(mutant_build "$1" "$2" O0 2>"$3"); then
    printf 'compile\t%s\t%s' "$2" "$(grep -m 1 -i 'error: ' "$3" | tr '\t' ' ')"
  else
    mutant_check "$program" "$2" "$3" O0 '*/*' || printf 'survives\t%s\t' "$2"
  fi
}

# mutant_write SOURCE NUMBER FOLDER STEP: the step with mutant NUMBER of SOURCE.
mutant_write() {
  mutant_copy "$3" "$4" && "build/$mutant_device/mutants" write "$1" "$2" "$3/steps/$4/${1##*/}"
}

# mutant_round STAGE STEPS: for mutant_hunt, takes the mutant through the stage in each of the steps that the array STEPS
# names, and leaves in it those where nothing is known yet. Status 1 as soon as one has caught the mutant.
mutant_round() {
  local -n those=$2
  local left=()
  for step in "${those[@]}"; do
    mutant_write "$source" "$number" "$folder" "$step" ||
      { verdict=$'unknown\t'$step$'\tthe mutant could not be written' && return 1; }
    said=$($1 "$folder" "$step" "$log.log")
    rm -rf "$folder" "$(bug_folder "$mutant_device" '' "$folder/steps")"{,.quick} \
      "$(bug_folder cpu sanitize "$folder/steps")"{,.quick}
    case $said in
    '') left+=("$step") ;;
    same*) [ -n "$verdict" ] || verdict=$said ;;
    survives*) verdict=$said ;;
    *) verdict=$said && return 1 ;;
    esac
  done
  those=("${left[@]}")
}

# mutant_hunt SOURCE NUMBER SCRATCH STEP...: writes mutant NUMBER of SOURCE and tries it in the steps, stage by stage,
# until one catches it. The first mutant_given of the steps go through two stages before the others begin. Leaves the
# verdict in SCRATCH/SOURCE-NUMBER.verdict, slashes as underscores: as the stages print it; `same` where the object
# code is the same in all steps.
mutant_hunt() {
  local source=$1 number=$2 id=${1//\//_}-$2 folder step verdict='' said log=$3/${1//\//_}-$2
  local steps=("${@:4}") given others
  folder=$mutant_folder/$id
  if [ "$mutant_device" = gpu ]; then
    mutant_round mutant_gpu steps
  else
    given=("${steps[@]:0:mutant_given}")
    others=("${steps[@]:mutant_given}")
    mutant_round mutant_first given && mutant_round mutant_all given && mutant_round mutant_first others &&
      mutant_round mutant_all others && steps=("${given[@]}" "${others[@]}") && mutant_round mutant_few steps &&
      mutant_round mutant_optimised steps
  fi
  case $verdict in
  '' | same* | survives*) # then each step must have come to an end
    [ -n "$verdict" ] && [ ${#steps[@]} -eq 0 ] || verdict=$'unknown\t'$step$'\tno tool gave a verdict' ;;
  esac
  printf '%s\n' "$verdict" >"$log.part" && mv "$log.part" "$log.verdict"
  rm -f "$log.log"
}
