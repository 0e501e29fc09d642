# shellcheck shell=bash
# The scratch folder of a script. To be sourced.

# make_scratch [PATH...]: sets `scratch` to a new, empty folder. It is removed when the script ends, also by a
# signal, and so are the PATHs. Without a place for it the script ends here with 2: it must not go on and
# write to paths that begin with an empty name, or take an empty answer for a finding.
make_scratch() {
  if ! scratch=$(mktemp -d "${TMPDIR:-/tmp}/lab-XXXXXX" 2>/dev/null); then
    echo "error: ${0##*/} cannot make a scratch folder in ${TMPDIR:-/tmp}: set TMPDIR to a folder that you can" \
      "write to" >&2
    exit 2
  fi
  scratch_paths=("$scratch" "$@")
  trap remove_scratch EXIT
}

# remove_scratch: what the EXIT trap does, for a script that has more to do there. Programs that the script has started
# and that still run, because a signal ends the script, end with it; some of them, such as timeout, are in process groups
# of their own, which a terminal's Ctrl-C does not reach.
remove_scratch() {
  end_below $$
  rm -rf "${scratch_paths[@]}"
}

# end_below PID: ends all processes that it has started, and those that they have started.
end_below() {
  local below
  for below in $(cat /dev/null "/proc/$1"/task/*/children 2>/dev/null); do # some scripts set nullglob
    end_below "$below"
    kill "$below" 2>/dev/null || true
  done
}
