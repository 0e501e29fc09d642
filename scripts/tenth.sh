# shellcheck shell=bash
# A tenth of a list, for a change that shall be tested in few minutes. To be sourced.

# take_tenth LIST WHAT: with TENTH=0 to 9, keeps that tenth of the elements of the array LIST; together the ten are
# all. Without TENTH it keeps all. WHAT names the elements in messages. Sets `part` to the words to say behind their
# number. If none are left, it says so and ends the script with 0. Ends it with 2 for another TENTH, and where they are
# to be recorded, because a record has all of them.
take_tenth() {
  local -n list=$1
  local i tenth=()
  part=''
  if [ -z "${TENTH:-}" ]; then return; fi
  if [[ $TENTH != [0-9] ]]; then
    echo "error: TENTH is '$TENTH': give it 0 to 9, the tenth of the $2 that is to be tried" >&2
    exit 2
  fi
  if [ -n "${RECORD:-}" ]; then
    echo "error: RECORD=1 records all $2: leave TENTH=$TENTH out" >&2
    exit 2
  fi
  for ((i = TENTH; i < ${#list[@]}; i += 10)); do tenth+=("${list[$i]}"); done
  if [ ${#tenth[@]} -eq 0 ]; then
    echo "$2: there are none in this tenth (TENTH=$TENTH)"
    exit
  fi
  list=("${tenth[@]}")
  # shellcheck disable=SC2034 # the script that sources this file reads it
  part=' of this tenth'
}
