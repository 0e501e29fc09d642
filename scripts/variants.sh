#!/bin/bash -p
# Measures what each part of a step brings: scripts/variants.sh 04_online_softmax 05_wmma ... Each
# steps/NN_name/variants/NAME.patch takes one thing away from its step, or puts another one in its place; the result
# is still right. Applies each to a copy of its step, builds the copy without a warning, and runs suite and
# sanitizer on it. On a GPU runs the suite alone, and then times all variants of a step in one run beside the step
# itself: they take turns in rounds, and how many times as fast a variant is comes from pairs of one round. ARGS
# holds options for the ladder, such as a shape. RECORD=1 writes the times to results/<device>/NAME.csv and
# NAME-samples.csv, where the rows of other steps stay. Without NAME and ARGS it records all problems of the tables, in
# variants.csv, variants-dim128.csv, variants-causal.csv and, for a step with a problems.txt, in those of its problems
# (scripts/problems.sh); without RECORD=1 it times the first one. Variants of steps for several GPUs are timed by
# build/gpu/groups on all GPUs, where ARGS holds lengths (16384 32768), and recorded in variants-groups.csv. RECORD=1
# leaves out the suite, which `make check` and a run without RECORD=1 have for the variants: the ladder compares rows of
# each result with the reference.
#
# SHORT=1 is the form of `make check`: each variant is built once, without line numbers and for the sanitizer, for
# head_dim 64 in fp16 alone (common/kernel/kernel.cuh). It runs on those of the few shapes that every step is
# sanitized on, where its results are checked, too.
# CALLED=substeps is for substeps.sh, which makes variants of the substeps of a step: what to call them, and what to record
# them under in the place of variants.csv.
# TENTH=0 to 9 tries a tenth of the variants: together the ten try all.
# VARIANT names one to be tried alone. PATCHES names another folder in the place of steps/ to take patches from.
# Exit status 1 when a variant is not right, 2 when there is none to try.
#
# scripts/variants.sh --copy 04_online_softmax no_pad: makes the changed copy of the step, and prints the folder that
# make takes as STEPS_FOLDER.
#
# A patch begins with these lines; what is expected may go on in lines that begin with a blank:
#   Title: what is taken away, or put in its place, in one sentence
#   Expect: what that should do to the time, and why
#   Kind: addition      of a variant that adds something to the step; others have no such line
#   Leaves-out: fp16    tests of the suite, as a glob, that the variant cannot pass although it is right, if there are any
# The tables show an addition that is not faster under "What did not help" (scripts/tables/variants.awk).
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
# shellcheck source=scripts/variant.sh
. scripts/variant.sh
# shellcheck source=scripts/problems.sh
. scripts/problems.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
# shellcheck source=scripts/words.sh
. scripts/words.sh
# shellcheck source=scripts/tenth.sh
. scripts/tenth.sh
if ! command -v patch >/dev/null; then
  echo "error: variants need the program patch: run make deps, or install the package patch" >&2
  exit 2
fi
if [ "${1-}" = --copy ]; then
  patch=$(variant_patch "$2" "$3") || exit
  variant_copy "$patch" 2>"$scratch/log" && exit
  cat "$scratch/log" >&2
  exit 2
fi
device=${DEVICE:-cpu}
bug_share_machine "$device"
bug_seconds=3600 # the whole suite, and all shapes of the sanitizer
bug_test_seconds=600
bug_limit=${LAB_LIMIT:-60}
called=${CALLED:-variants}
asked=${ARGS:-} # options of the ladder, not of the sanitizer
unset ARGS
split_words "$asked" # ends the script here where they make no sense

if [ "$device" = cpu ] && [ -n "${RECORD:-}" ]; then
  echo "error: RECORD=1 records times, which mean nothing on the emulator: run it on a machine with a GPU" >&2
  exit 2
fi

if [ -n "${RECORD:-}" ] && [ -n "${VARIANT:-}" ] && [ -z "${NAME:-}" ]; then
  echo "error: RECORD=1 records all variants of a step in the place of those before: leave VARIANT=$VARIANT out, or give" \
    "NAME for a file of its own" >&2
  exit 2
fi
if [ "$device" = gpu ] && [ -n "${SHORT:-}" ]; then
  echo "error: SHORT=1 tries $called on the emulator, and nothing of them on a GPU: leave SHORT=1 out, or give DEVICE=cpu" >&2
  exit 2
fi

patches=()
steps=() # that have any
for step in "$@"; do
  if [ -n "${VARIANT:-}" ]; then
    patch=$(variant_patch "$step" "$VARIANT") || exit
    found=("$patch")
  else
    mapfile -t found < <(variant_patches "$step")
  fi
  if [ ${#found[@]} -eq 0 ]; then continue; fi
  patches+=("${found[@]}")
  steps+=("$step")
done
if [ ${#patches[@]} -eq 0 ]; then
  echo "error: none of the steps given ($*) has variants: they are ${PATCHES:-steps}/NN_name/variants/*.patch" >&2
  exit 2
fi

take_tenth patches "$called"

# ---- Are they right? ----------------------------------------------------------------------------

# The files that all variants share are built once, before several variants are built at a time.
number=${steps[0]%%_*}
if ! { { [ -n "${SHORT:-}${RECORD:-}" ] || bug_build "$device" '' steps "step$number-check"; } &&
  { [ "$device" = gpu ] || bug_build cpu sanitize steps "step$number"; }; } >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  echo "error: the tests do not build, so no variant can be tried" >&2
  exit 2
fi

# for_several STEP [FOLDER]: whether the step is for several GPUs.
for_several() { grep -q '^// GPUs: several$' "${2:-steps}/$1/attention.cu"; }

# On a GPU the step itself and the program that times it are built beside the variants, not one after the other: the GPU
# waits meanwhile.
if [ "$device" = gpu ]; then
  beside=()
  for step in "${steps[@]}"; do
    beside+=("build/gpu/step${step%%_*}.so")
    if for_several "$step"; then beside+=(build/gpu/step17.so build/gpu/groups); fi
  done
  bug_build gpu '' steps ladder -j "${JOBS:-$(nproc)}" "${beside[@]}" >"$scratch/beside" 2>&1 &
fi

# The variants are tried from the last step on. These take longest, so they must not begin last.
started=$SECONDS
for ((i = ${#patches[@]} - 1; i >= 0; i--)); do
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
  if [ -t 2 ]; then
    printf '\r%s: %d of %d: %s\033[K' "$called" "$(find "$scratch" -name '*.row' | wc -l)" "${#patches[@]}" \
      "$(bug_id "${patches[$i]}")" >&2
  fi
  variant_try "$device" "${patches[$i]}" "$scratch" &
done
wait
[ -t 2 ] && printf '\r\033[K' >&2

if [ -z "${SHORT:-}${RECORD:-}" ]; then
  {
    printf '%s\tcheck\tsanitize\twhat it does\n' "${called%s}"
    for patch in "${patches[@]}"; do sed 's/-/ /' "$scratch/$(bug_id "$patch").row"; done
  } | awk -f scripts/align.awk
fi
failed=0
for patch in "${patches[@]}"; do
  id=$(bug_id "$patch")
  if [ -s "$scratch/$id.problem" ]; then
    failed=$((failed + 1))
    echo "FAIL  $patch: $(cat "$scratch/$id.problem")"
  fi
done
if [ "$failed" -gt 0 ]; then
  echo "$called: $failed of ${#patches[@]} $called are not right"
  exit 1
fi
if [ -n "${RECORD:-}" ]; then
  echo "$called: all ${#patches[@]} $called are built ($((SECONDS - started)) s)"
else
  echo "$called: all ${#patches[@]} $called$part are right ($((SECONDS - started)) s)"
fi
if [ -n "${SHORT:-}" ]; then exit; fi
if [ "$device" = cpu ]; then
  example=$(basename "${patches[0]}" .patch)
  if [ "$called" = substeps ]; then example=SUBSTEP=${example%%_*}; else example=VARIANT=$example; fi
  echo "$called: their times are not measured here, as times mean nothing on the emulator; make step${number} count" \
    "$example counts what one of them does"
  exit
fi

# ---- What do they cost? -------------------------------------------------------------------------

# library FOLDER STEP: builds the step's shared object from that folder of steps, and prints its path.
library() {
  bug_build gpu '' "$1" "step${2%%_*}.so" 2>"$scratch/log" || { cat "$scratch/log" >&2 && return 2; }
}

bug_build gpu '' steps ladder >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && exit 2; }
folder=${DATA:-results}/$(build/gpu/ladder --slug) || exit 2
if [ -n "${RECORD:-}" ]; then need_writable "$folder"; fi

# time_step PROGRAM NAME CONTENDER... -- OPTION...: runs the program, which is the ladder or for steps for several GPUs
# groups, and with RECORD puts what it says into NAME.csv.
time_step() {
  local name=$2 file new
  scripts/run.sh "$1" "$scratch/data" "$name" "${@:3}" | grep -v '^written: '
  if [ "${PIPESTATUS[0]}" -ne 0 ]; then return 1; fi
  if [ -z "${RECORD:-}" ]; then return; fi
  mkdir -p "$folder" && exec 9<"$folder" && flock 9 || exit 2
  for file in "$name.csv" "$name-samples.csv"; do
    new=$scratch/data/${folder##*/}/$file
    if [ -f "$new" ]; then
      scripts/merge_rows.sh "$folder/$file" "$new" >"$scratch/merged" || exit 2
    elif [ -f "$folder/$file" ]; then # --no-time leaves no samples, and those of before are of other rows
      awk -F , -v step="$step" 'FNR == 1 || $1 != step' "$folder/$file" >"$scratch/merged" || exit 2
    else
      continue
    fi
    write_whole "$folder/$file" <"$scratch/merged" || exit 2
    echo "written: $folder/$file"
  done
  exec 9<&-
}

# gpus: how many GPUs programs may use; nvidia-smi tells of the others as well.
gpus() {
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | grep -c .
  else
    nvidia-smi -L 2>/dev/null | grep -c '^GPU '
  fi
}

status=0
for step in "${steps[@]}"; do
  contenders=("$(library steps "$step")") || exit 2
  for patch in "${patches[@]}"; do
    id=$(bug_id "$patch")
    if [ "${id%%-*}" != "$step" ]; then continue; fi
    # The step before step 21, from which its substeps begin, is for one GPU.
    if for_several "$step" && ! for_several "$step" "build/variants/$id/steps"; then continue; fi
    program=$(library "build/variants/$id/steps" "$step") || exit 2
    contenders+=("$program:variant=${id#*-}")
  done
  if for_several "$step"; then
    if [ "$(gpus)" -lt 2 ]; then
      echo "SKIP $step: its $called are timed on several GPUs, and there is one here${CUDA_VISIBLE_DEVICES+ (CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES)}"
      continue
    fi
    bug_build gpu '' steps groups >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2 && exit 2; }
    one=$(library steps "$(cd steps && echo 17_*)") || exit 2
    split_words "${asked:-16384 32768}"
    time_step build/gpu/groups "${NAME:-$called-groups}" "$one" "${contenders[@]}" -- "${words[@]}" || status=1
    continue
  fi
  problems_of "$step" "$called"
  if [ -n "${NAME:-}$asked" ]; then problems=("${NAME:-$called}") options=("$asked"); fi
  if [ -z "${RECORD:-}" ]; then problems=("${problems[0]}"); fi
  for i in "${!problems[@]}"; do
    split_words "${options[i]}"
    time_step build/gpu/ladder "${problems[i]}" "${contenders[@]}" -- "${words[@]}" || status=1
  done
done
exit $status
