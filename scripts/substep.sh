# shellcheck shell=bash
# Functions for the substeps of a step. To be sourced from the root of the lab behind parent.sh and writable.sh, and told
# the folder of the steps in `steps`.
# shellcheck disable=SC2154 # steps, scratch
#
# The way from a step's parent to the step may be divided into substeps, one idea each. The patches
# steps/NN_name/substeps/1_first_idea.patch, 2_next_idea.patch and so on change the parent's attention.cu one after the
# other, and the last one makes the step's own, byte for byte. Each source in between is a whole program that gives the
# right result. A patch has the head of a variant's (variants.sh tells its form), and names the step's file. Where a source
# lacks configurations of the step, the head has the line `Configurations: fewer`: it is not tested in those.

# substeps_of STEP: the step's patches in their order, a line each.
substeps_of() {
  local patch
  for patch in "${SUBSTEPS:-$steps}/$1/substeps/"[1-9]_*.patch; do
    if [ -f "$patch" ]; then echo "$patch"; fi
  done
}

# substep_patch STEP NUMBER: the patch of that number; says in a sentence which numbers there are where there is none.
substep_patch() {
  local patches
  mapfile -t patches < <(substeps_of "$1")
  if [ ${#patches[@]} -eq 0 ]; then
    echo "error: $1 is not divided into substeps: make step${1%%_*} diff shows all of it" >&2
    return 2
  elif ! [[ $2 =~ ^[1-9]$ ]] || [ "$2" -gt ${#patches[@]} ]; then
    echo "error: $1 has no substep '$2': its substeps have the numbers 1 to ${#patches[@]}" >&2
    return 2
  fi
  echo "${patches[$2 - 1]}"
}

# substep_source STEP NUMBER FILE: writes to FILE the source that the first NUMBER substeps make of the parent's.
substep_source() {
  local before patch number=0
  before=$(parent "$1") || return
  mkdir -p "${3%/*}" && cp "$steps/$before/attention.cu" "$3" || return 2
  while [ "$number" -lt "$2" ]; do
    number=$((number + 1))
    patch=$(substep_patch "$1" "$number") && substep_apply "$patch" "$3" || return
  done
}

# substep_apply PATCH FILE: changes the source before the substep to the one behind it.
substep_apply() {
  local log
  if ! log=$(patch --fuzz=0 --forward --batch --no-backup-if-mismatch --reject-file=- "$2" <"$1"); then
    echo "error: $1 no longer applies to the source before it: $(grep -m 1 FAILED <<<"$log")" >&2
    return 1
  fi
}

# substep_copy STEP NUMBER: puts that source where make finds it, and prints its folder of steps.
substep_copy() {
  local folder=build/substeps/$1-$2/steps/$1 patch
  patch=$(substep_patch "$1" "$2") || return
  need_writable build/substeps && substep_source "$1" "$2" "$scratch/copy/attention.cu" && mkdir -p "$folder" || return
  if ! cmp -s "$scratch/copy/attention.cu" "$folder/attention.cu"; then # else nothing is built again
    cp "$scratch/copy/attention.cu" "$folder/attention.cu" || return 2
  fi
  echo "build/substeps/$1-$2/steps"
}

# substeps_as_variants STEP FOLDER: writes each source in between as a variant of the step, for variants.sh:
# FOLDER/STEP/variants/1_first_idea.patch and so on. Where times are recorded, 0_the_step_before is the parent's source
# under the step's name. Says in a sentence what is wrong with the way, if anything is.
substeps_as_variants() {
  local patches number file=$1/attention.cu source=$scratch/between.cu
  mapfile -t patches < <(substeps_of "$1")
  rm -rf "${2:?}/$1" && mkdir -p "$2/$1/variants" || return 2
  if [ -n "${RECORD:-}" ]; then
    substep_source "$1" 0 "$source" && sed -i "s/\"$(parent "$1")\"/\"$1\"/" "$source" || return
    {
      printf 'Title: The step before\nExpect: None of the substeps is there yet.\n'
      diff -u --label "a/steps/$file" --label "b/steps/$file" "$steps/$file" "$source"
    } >"$2/$1/variants/0_the_step_before.patch"
  fi
  substep_source "$1" 0 "$source" || return
  for ((number = 1; number <= ${#patches[@]}; number++)); do
    if [[ ${patches[number - 1]##*/} != "$number"_* ]]; then
      echo "FAIL  $1: substep $number is missing, and ${patches[number - 1]} comes after it"
      return 1
    fi
    substep_apply "${patches[number - 1]}" "$source" || return
    if ! grep -q '^Title: .' "${patches[number - 1]}" || ! grep -q '^Expect: .' "${patches[number - 1]}"; then
      echo "FAIL  ${patches[number - 1]}: its head lacks a Title or an Expect"
      return 1
    fi
    if [ "$number" -lt ${#patches[@]} ]; then
      {
        awk '/^--- / { exit } { print }' "${patches[number - 1]}"
        diff -u --label "a/steps/$file" --label "b/steps/$file" "$steps/$file" "$source"
      } >"$2/$1/variants/$(basename "${patches[number - 1]}")"
    fi
  done
  if ! cmp -s "$source" "$steps/$file"; then
    echo "FAIL  $1: its substeps lead to another source than $steps/$file: mend the one that brings this line:" \
      "$(diff "$source" "$steps/$file" | grep -m 1 '^[<>]')"
    return 1
  fi
}
