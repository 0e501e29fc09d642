# shellcheck shell=bash
# A fifth of a list, for a change that shall be tested in few minutes. To be sourced.

# take_fifth LIST WHAT: with FIFTH=0 to 4, keeps that fifth of the elements of the array LIST; together the five are
# all. Without FIFTH it keeps all. WHAT names the elements in messages. Sets `part` to the words to say behind their
# number. If none are left, it says so and ends the script with 0. Ends it with 2 for another FIFTH, and where they are
# to be recorded, because a record has all of them.
take_fifth() {
  local -n list=$1
  local i fifth=()
  part=''
  if [ -z "${FIFTH:-}" ]; then return; fi
  if [[ $FIFTH != [0-4] ]]; then
    echo "error: FIFTH is '$FIFTH': give it 0 to 4, the fifth of the $2 that is to be tried" >&2
    exit 2
  fi
  if [ -n "${RECORD:-}" ]; then
    echo "error: RECORD=1 records all $2: leave FIFTH=$FIFTH out" >&2
    exit 2
  fi
  for ((i = FIFTH; i < ${#list[@]}; i += 5)); do fifth+=("${list[$i]}"); done
  if [ ${#fifth[@]} -eq 0 ]; then
    echo "$2: there are none in this fifth (FIFTH=$FIFTH)"
    exit
  fi
  list=("${fifth[@]}")
  # shellcheck disable=SC2034 # the script that sources this file reads it
  part=' of this fifth'
}
