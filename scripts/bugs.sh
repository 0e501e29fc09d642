#!/bin/bash -p
# Checks that planted bugs are caught: scripts/bugs.sh 04_online_softmax 05_wmma ... Applies each
# steps/NN_name/bugs/*.patch to a copy of its step, builds the copy, and gives it to `check` and to `sanitize`.
# Prints a table of who caught what, and on what line; with RECORD=1 also writes it to results/<device>/bugs.csv,
# where the rows of other steps stay. Exit status 1 when a bug escapes a tool that its patch names, when the tool
# says something else than the patch expects, or when a patch no longer applies. On a GPU sanitize runs for bugs
# that name it alone, and may miss them. With NAMED=1, as in make check, a bug is given only to the tools that its
# patch names, because the answers of others do not count. Then, and on a GPU, one configuration and one element type
# of a step for each head_dim are compiled. With ONLY=check or ONLY=sanitize the other tool is not tried. PATCHES names
# another folder in the place of steps/ to take patches from. TENTH=0 to 9 plants a tenth of the bugs: together the ten
# plant all.
#
# A patch begins with these lines; a story may go on in lines that begin with a blank:
#   Title: what is wrong          Caught-by: check, sanitize (one or both)
#   Expect: part of the message   Story: what the person thought, what happens, how one sees it
#   Configurations: all, where the bug does not show in the first that takes a head_dim, or in its one type
#   Inlined: yes, where the bug shows only if functions are inlined, as nvcc and the sanitizer's usual build inline them
#   Contracted: yes, where the bug shows only if a product and a sum become one instruction, as nvcc and g++ -O2 make them
#   Test: kernels/each_is_sanitized, the test that catches it, where many pass before that one; NAMED=1 runs it alone
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
# shellcheck source=scripts/planted_bug.sh
. scripts/planted_bug.sh
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
# shellcheck source=scripts/writable.sh
. scripts/writable.sh
# shellcheck source=scripts/tenth.sh
. scripts/tenth.sh
device=${DEVICE:-cpu}
bug_share_machine "$device"

bugs=()
for step in "$@"; do
  mapfile -t found < <(printf '%s\n' "${PATCHES:-steps}/$step/bugs/"*.patch | sort -V) # number 10 behind 9
  for patch in "${found[@]}"; do
    [ -f "$patch" ] && bugs+=("$patch")
  done
done
if [ "${#bugs[@]}" -eq 0 ]; then
  echo "error: none of the steps given ($*) has planted bugs: they are ${PATCHES:-steps}/NN_name/bugs/*.patch" >&2
  exit 2
fi
take_tenth bugs bugs
if ! [[ ${ONLY:-check} =~ ^(check|sanitize)$ ]]; then
  echo "error: ONLY is \"$ONLY\": give check or sanitize, the one tool to try" >&2
  exit 2
fi

if ! command -v patch >/dev/null; then
  echo "error: planting bugs needs the program patch: run make deps, or install the package patch" >&2
  exit 2
fi

# The files that all bugs share are built once, before several bugs are built at a time.
number=${1%%_*}
few=''
if [ "$device" = gpu ]; then few=1; fi # nvcc takes minutes for all configurations
if ! { FIRST_CONFIGURATION=$few bug_build "$device" '' steps "step$number-check" &&
  { [ "$device" = gpu ] || bug_build cpu sanitize steps "step$number"; } &&
  { [ -z "${RECORD:-}" ] || bug_build "$device" '' steps ladder; }; } >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  echo "error: the tests do not build, so no bug can be looked for" >&2
  exit 2
fi

if [ -n "${RECORD:-}" ]; then # what takes long is not lost in the end
  folder=${DATA:-results}/$("build/$device/ladder" --slug) || exit 2
  need_writable "$folder"
fi

# The bugs are tried from the last step on. These take longest, so they must not begin last.
started=$SECONDS
for ((i = ${#bugs[@]} - 1; i >= 0; i--)); do
  patch=${bugs[$i]}
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
  if [ -t 2 ]; then
    printf '\rbugs: %d of %d: %s\033[K' "$(find "$scratch" -name '*.row' | wc -l)" "${#bugs[@]}" \
      "$(bug_id "$patch")" >&2
  fi
  bug_hunt "$device" "$patch" "$scratch" "$i" &
done
wait
[ -t 2 ] && printf '\r\033[K' >&2

short() { # cuts long messages, so that they fit a table's cell
  awk -F '\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++) if (length($i) > 70) $i = substr($i, 1, 67) "..."; print }'
}
{
  printf 'bug\tcheck\tsanitize\tfirst line\n'
  for patch in "${bugs[@]}"; do
    awk -F '\t' -v OFS='\t' '{ print $1 " " $2, $4, $6, ($5 != "" ? $5 : $7) }' \
      "$scratch/$(bug_id "$patch").row"
  done
} | short | awk -f scripts/align.awk

failed=0
unseen=()
for patch in "${bugs[@]}"; do
  id=$(bug_id "$patch")
  if [ -s "$scratch/$id.problem" ]; then
    failed=$((failed + 1))
    echo "FAIL  $patch: $(cat "$scratch/$id.problem")"
  elif ! cut -f 4,6 "$scratch/$id.row" | grep -q 'caught\|hangs'; then
    unseen+=("$id")
  fi
done

if [ -n "${RECORD:-}" ]; then
  exec 9<"$folder" && flock 9 || exit 2
  for patch in "${bugs[@]}"; do cat "$scratch/$(bug_id "$patch").row"; done >"$scratch/rows"
  bugs_merge "$folder/bugs.csv" "$scratch/rows" "$@" >"$scratch/bugs.csv" && write_whole "$folder/bugs.csv" <"$scratch/bugs.csv" || exit 2
  echo "written: $folder/bugs.csv"
fi

if [ "$failed" -gt 0 ]; then
  echo "bugs: $failed of ${#bugs[@]} planted bugs$part are not caught as they should be"
  exit 1
fi
seconds=$((SECONDS - started))
if [ "${#unseen[@]}" -eq 0 ]; then
  echo "bugs: all ${#bugs[@]} planted bugs$part are caught ($seconds s)"
else
  echo "bugs: $((${#bugs[@]} - ${#unseen[@]})) of ${#bugs[@]} planted bugs$part are caught ($seconds s); the others do not show" \
    "on this GPU, as they need not: ${unseen[*]}"
fi
