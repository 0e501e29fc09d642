# shellcheck shell=bash
# The words of a compiler in short. To be sourced from the root of the lab, behind scripts/workshop/work.sh and by
# scripts that have called make_scratch of scripts/scratch.sh.

# say_diagnostics LOG SOURCE TITLE: shows under a title what compilers say of a step's file in a log, each diagnostic
# once, and before errors where its braces do not match, in the part PART alone if that is set. The whole log is kept, as
# work/.state/STEP/compiler.log. Status 1: the log says nothing of it.
say_diagnostics() {
  local kept step=${2%/*}
  kept=$(state_folder "${step##*/}") || return
  kept+=/compiler.log
  if ! awk -v file="$2" -f scripts/workshop/diagnostics.awk "$1" >"$scratch/said"; then
    rm -f "$kept"
    return 1
  fi
  cp "$1" "$kept"
  echo "$3"
  if grep -q '^  [^ ]*: error: ' "$scratch/said" && [ -r "$2" ]; then
    awk -v part="${PART:-}" -f scripts/workshop/braces.awk "$2"
  fi
  cat "$scratch/said"
  echo "  everything that the compiler says: $kept"
}
