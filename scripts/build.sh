#!/bin/bash -p
# Runs a command that builds: scripts/build.sh "SOURCE..." make -f make/build.mk FILES
# SOURCE is the file of a step that is built, such as work/04_online_softmax/attention.cu. Where the compiler says
# something of it, that is shown in short: each diagnostic once, errors first, under a sentence that names the file. With
# no SOURCE all that the compiler says is shown as it comes. On a terminal it removes the line on which make/build.mk
# shows what is being made. Exit status: that of the command.
export LC_ALL=C
set -u
# shellcheck source=scripts/scratch.sh
. "${BASH_SOURCE[0]%/*}/scratch.sh"
# shellcheck source=scripts/workshop/work.sh
. "${BASH_SOURCE[0]%/*}/workshop/work.sh"
# shellcheck source=scripts/workshop/diagnostics.sh
. "${BASH_SOURCE[0]%/*}/workshop/diagnostics.sh"
make_scratch
read -ra sources <<<"$1"
shift
if [ ${#sources[@]} -eq 0 ]; then
  "$@"
  status=$?
  [ -t 2 ] && printf '\033[K' >&2
  exit $status
fi

built=$scratch/built
exec 3>&2 # for the line on a terminal
LAB_TERMINAL=3 "$@" >"$built" 2>&1
status=$?
[ -t 2 ] && printf '\033[K' >&2
title='the compiler warns:'
said=
for source in "${sources[@]}"; do
  if ! grep -qF -e "$source:" -e "$source(" "$built"; then continue; fi
  if [ $status -ne 0 ]; then title="error: $source does not compile:"; fi
  if say_diagnostics "$built" "$source" "$title" >&2; then said=1; fi
done
if [ -z "$said" ]; then cat "$built" >&2; fi # it is not about a step
exit $status
