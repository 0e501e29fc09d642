#!/bin/bash -p
# Prints for which GPUs a change is compiled before it goes in: scripts/few_gpus.sh STEP... A line "STEP ARCHITECTURE" for
# each pair, with "first" behind it where one configuration for each head_dim is enough, and with "one" where one
# configuration for head_dim 64 is. "bare" means the same as "one", without the code for the host. All steps for all GPUs
# would take minutes of processor time more.
#
# They are each step's oldest architecture, the newest one, and sm_90a, that of the records, on which alone all
# configurations are compiled. sm_89 and sm_100 are left to the steps that are cheap to compile, those with at most three
# configurations, and sm_86 is left out: ptxas gives each kernel the same registers there as for sm_89.
#
# With TENTH=0 to 9 they are so for a tenth of the steps. The others are compiled for sm_90a alone, with one
# configuration for head_dim 64 and without the code for the host.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for step; do
  source=${STEPS_FOLDER:-steps}/$step/attention.cu # as in make/config.mk
  architectures='sm_75 sm_90a'
  if grep -qs '^// Needs: sm_80' "$source"; then architectures+=' sm_80'; fi
  # The steps for decode have many configurations, and are left out on sm_120; there a kernel of step 18 keeps 32 bytes in
  # local memory, from before its loop over the keys until after it.
  case $step in 18_* | 19_* | 20_* | 25_*) ;; *) architectures+=' sm_120' ;; esac
  if [ "$(grep -cs '^  X(' "$source")" -le 3 ]; then architectures+=' sm_89 sm_100'; fi
  # Steps 21 and 22 have the kernel of step 23, but for the place of a block of keys, and step 26 has those of step 24.
  case $step in 21_* | 22_* | 26_*) some=' one' ;; *) some='' ;; esac
  if [ -n "${TENTH:-}" ] && [ $((10#${step%%_*} % 10)) != "$TENTH" ]; then
    architectures=sm_90a
    some=' bare'
  fi
  scripts/made_for.sh "$architectures" "$step" | sed "/ sm_90a$/!s/$/ first/; / sm_90a$/s/$/$some/"
done
