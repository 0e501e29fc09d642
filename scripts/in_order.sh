# shellcheck shell=bash
# Jobs that run beside each other and report one after the other. To be sourced, and told a folder for its
# files in `scratch`.
# shellcheck disable=SC2154 # scratch

# in_order COUNT AT_ONCE RUN WAIT REPORT [ALONE]: calls `RUN number` for each number below COUNT, each in a
# process of its own and AT_ONCE of them at a time, and `REPORT number` in this shell, in the order of the
# numbers, once this one and all before it have ended. `WAIT number` is called when it waits for that number, on
# a terminal again and again. Where `ALONE number` is true, no other job runs beside this one.
in_order() {
  local count=$1 at_once=$2 run=$3 wait=$4 report=$5 alone=${6:-false} next=0 number limit
  rm -rf "$scratch/ended" && mkdir "$scratch/ended"

  in_order_below() { # limit: reports what has ended, until fewer than so many run
    local running
    while :; do
      running=$(jobs -rp | wc -l)
      while [ -e "$scratch/ended/$next" ]; do
        "$report" "$next"
        next=$((next + 1))
      done
      [ "$running" -ge "$1" ] || return 0
      if [ "$next" -lt "$count" ]; then "$wait" "$next"; fi
      if [ -t 1 ]; then sleep 0.2; else wait -n; fi
    done
  }
  for ((number = 0; number < count; number++)); do
    limit=$at_once
    if "$alone" "$number"; then limit=1; fi
    in_order_below "$limit"
    { "$run" "$number"; : >"$scratch/ended/$number"; } &
    if "$alone" "$number"; then in_order_below 1; fi
  done
  in_order_below 1
}
