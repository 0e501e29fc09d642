# shellcheck shell=bash
# The problems that the sanitizers of both devices run. To be sourced from the root of the lab.

shapes=scripts/sanitize_shapes.txt

# sanitize_options STEP: a line of options for each shape of the step, or ARGS alone.
sanitize_options() {
  if [ -n "${ARGS:-}" ]; then
    echo "$ARGS"
  else
    awk -v step="$1" '$1 == "every" || $1 == step { sub(/^[^ ]+ +/, ""); print }' $shapes
  fi
}
