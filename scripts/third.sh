# shellcheck shell=bash
# A third of a list, for a change that shall be tested in few minutes. To be sourced.

# take_third LIST WHAT: with THIRD=0, 1 or 2, keeps that third of the elements of the array LIST; together the three are
# all. Without THIRD it keeps all. WHAT names the elements in messages. Sets `part` to the words to say behind their
# number. If none are left, it says so and ends the script with 0. Ends it with 2 for another THIRD, and where they are
# to be recorded, because a record has all of them.
take_third() {
  local -n list=$1
  local i third=()
  part=''
  if [ -z "${THIRD:-}" ]; then return; fi
  if [[ $THIRD != [012] ]]; then
    echo "error: THIRD is '$THIRD': give it 0, 1 or 2, the third of the $2 that is to be tried" >&2
    exit 2
  fi
  if [ -n "${RECORD:-}" ]; then
    echo "error: RECORD=1 records all $2: leave THIRD=$THIRD out" >&2
    exit 2
  fi
  for ((i = THIRD; i < ${#list[@]}; i += 3)); do third+=("${list[$i]}"); done
  if [ ${#third[@]} -eq 0 ]; then
    echo "$2: there are none in this third (THIRD=$THIRD)"
    exit
  fi
  list=("${third[@]}")
  # shellcheck disable=SC2034 # the script that sources this file reads it
  part=' of this third'
}
