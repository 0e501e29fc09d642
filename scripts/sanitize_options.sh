# shellcheck shell=bash
# The problems that the sanitizers of both devices run. To be sourced from the root of the lab.

# shellcheck source=scripts/words.sh
. scripts/words.sh
split_words "${ARGS:-}" # ends the script here where they make no sense
shapes=scripts/sanitize_shapes.txt

# sanitize_kin STEP: the step whose lines it takes. These are its own, or where it has none, as a reader's own step, those
# of the step that its first comment says it comes after, and so on.
sanitize_kin() {
  local step=$1 next=$1
  while [ -n "$next" ]; do
    step=$next
    if grep -q "^$step " $shapes; then break; fi
    next=$(sed -n '/^[^/]/q; s|^// After: *\([^ ]*\).*|\1|p' "${STEPS_FOLDER:-steps}/$step/attention.cu" 2>/dev/null)
  done
  echo "$step"
}

# sanitize_options STEP: a line of options for each shape of the step, or ARGS alone. With EVERY=1 only the few
# shapes that every step runs on. CONFIGURATIONS="64x64x4 64x32x4" leaves out the lines of other configurations, and
# ONE_DIM=1 those for which a build with LAB_ONE_DIM (common/kernel/kernel.cuh) has no kernel.
sanitize_options() {
  local step
  step=$(sanitize_kin "$1")
  if [ -n "${EVERY:-}" ]; then step=every; fi
  if [ -n "${ARGS:-}" ]; then
    echo "$ARGS"
  else
    awk -v step="$step" -v compiled="${CONFIGURATIONS:-}" -v one_dim="${ONE_DIM:-}" '
      compiled && match($0, / --config [^ ]+/) && !index(" " compiled " ", substr($0, RSTART + 9, RLENGTH - 9) " ") { next }
      one_dim && (/ bf16( |$)/ || !match($0, / --dim (3[3-9]|[45][0-9]|6[0-4])( |$)/)) { next }
      $1 == "every" || $1 == step || (one_dim && $1 == "one_dim") { sub(/^[^ ]+ +/, ""); print }' $shapes
  fi
}
