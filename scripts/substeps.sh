#!/bin/bash -p
# Tries the substeps of steps, which divide the way from a step's parent to the step: scripts/substeps.sh 15_persistent ...
# (scripts/substep.sh tells what they are.) Sees that the substeps of each step lead from its parent's source to its own,
# and that each source in between is right: variants.sh builds, checks and sanitizes it, and on a GPU times it beside the
# step. DEVICE, JOBS, SHORT, TENTH, RECORD, NAME and ARGS mean what they mean there; without NAME it records substeps.csv,
# substeps-dim128.csv and the like.
#
# scripts/substeps.sh --copy 15_persistent 2: makes the source behind the second substep, and prints the folder that
# make takes as STEPS_FOLDER.
#
# scripts/substeps.sh --verify 15_persistent ...: sees that they lead from source to source, and builds nothing.
#
# SUBSTEPS names another folder in the place of steps/ to take the patches from.
# Exit status 1 when something is not right, 2 when there is nothing to try.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/parent.sh
. scripts/parent.sh
# shellcheck source=scripts/writable.sh
. scripts/writable.sh
# shellcheck source=scripts/substep.sh
. scripts/substep.sh
steps=steps # for parent.sh
if ! command -v patch >/dev/null; then
  echo "error: substeps need the program patch: run make deps, or install the package patch" >&2
  exit 2
fi
if [ "${1-}" = --copy ]; then
  substep_copy "$2" "$3"
  exit
fi
verify=''
if [ "${1-}" = --verify ]; then
  verify=1
  shift
fi
divided=()
for step in "$@"; do
  if [ -n "$(substeps_of "$step")" ]; then divided+=("$step"); fi
done
if [ ${#divided[@]} -eq 0 ]; then
  if [ -n "${SHORT:-}" ]; then exit; fi # as make check asks about any steps
  echo "error: none of the steps given ($*) is divided: substeps are ${SUBSTEPS:-steps}/NN_name/substeps/1_*.patch" >&2
  exit 2
fi
between=build/substeps/between
if [ -n "$verify" ]; then between=$scratch/variants; fi
need_writable "$between"
for step in "${divided[@]}"; do
  substeps_as_variants "$step" "$between" || exit
done
if [ -n "$verify" ]; then
  echo "substeps: those of ${#divided[@]} steps lead from the source before to the step's own"
  exit
fi
PATCHES=$between CALLED=substeps scripts/variants.sh "${divided[@]}"
