# shellcheck shell=bash
# Installs Debian packages with apt, as root. To be sourced by scripts/deps.sh.

# A server that does not answer costs ten seconds, and is not tried again. The name server is
# asked twice, two seconds each: where it did not answer, three lists took 25 seconds, and 60 without RES_OPTIONS.
network=(-q -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
state=(-o DPkg::Lock::Timeout=60) # becomes the options for lists of our own, see use_own_lists
export LC_ALL=C                   # apt's messages are searched below
export RES_OPTIONS="${RES_OPTIONS:+$RES_OPTIONS }timeout:2 attempts:2"

# run_logged WHAT COMMAND...: runs it into the log, with a dot every two seconds on a terminal.
run_logged() {
  local what=$1 ticker result
  shift
  echo "== $*" >>"$log"
  if ! [[ -t 1 ]]; then
    say "$what"
    "$@" >>"$log" 2>&1 </dev/null
    return
  fi
  printf 'deps: %s ' "$what"
  while sleep 2; do printf .; done &
  ticker=$!
  trap 'kill "$ticker" 2>/dev/null; remove_work' EXIT
  "$@" >>"$log" 2>&1 </dev/null
  result=$?
  trap remove_work EXIT
  kill "$ticker"
  wait "$ticker" 2>/dev/null
  echo
  return $result
}

# apt gives its lists the servers' dates; the folder `partial` tells when they were fetched.
system_lists_are_fresh() {
  local lists=/var/lib/apt/lists
  [[ -n $(find $lists -maxdepth 1 -name '*_Packages*' -print -quit 2>/dev/null) &&
    -n $(find $lists/partial -maxdepth 0 -mtime -7 2>/dev/null) ]]
}

simulate_install() { apt-get "${state[@]}" install -s --no-install-recommends "$@" 2>>"$log"; }

# Fills the array `available` with those of the packages that apt could install.
find_available() {
  local package
  available=("$@")
  if simulate_install "$@" >>"$log"; then return; fi
  available=()
  for package in "$@"; do
    if simulate_install "$package" >>"$log"; then available+=("$package"); fi
  done
  ((${#available[@]}))
}

# install_as_root PACKAGE...: `admin` is the command that gives root's rights, if any is needed.
install_as_root() {
  local refreshed=no
  local -a apt=("${admin[@]}" env DEBIAN_FRONTEND=noninteractive "RES_OPTIONS=$RES_OPTIONS" apt-get "${network[@]}" "${state[@]}")
  if ! system_lists_are_fresh; then
    # One server that fails does not matter yet: the packages may come from another.
    run_logged "fetching apt's package lists" "${apt[@]}" update
    refreshed=yes
  fi
  until find_available "$@" && run_logged "installing ${available[*]}" \
    "${apt[@]}" install -y --no-install-recommends "${available[@]}"; do
    if [[ $refreshed == yes ]]; then return 1; fi
    # The lists may name versions that the servers have replaced since.
    run_logged "fetching newer package lists" "${apt[@]}" update
    refreshed=yes
  done
}
