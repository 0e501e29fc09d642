# shellcheck shell=bash
# Splits a text that the reader has given, such as ARGS, into words. To be sourced.

# split_words TEXT: sets `words` to the words that a shell would make of it. Quotes and backslashes keep the
# enclosed text together, and every other character stands for itself. Nothing is expanded, and nothing is run.
split_words() {
  local lines
  if [[ $1 != *[\'\"\\]* ]]; then # without quotes and backslashes the shell needs no help
    # shellcheck disable=SC2034 # for the script that sources it
    read -r -d '' -a words <<<"$1" || true
    return 0
  fi
  if ! lines=$(xargs -r printf '%s\n' <<<"$1" 2>/dev/null); then
    echo "error: a quote is not closed in: $1" >&2
    exit 2
  fi
  words=()
  # shellcheck disable=SC2034 # for the script that sources it
  [ -z "$lines" ] || mapfile -t words <<<"$lines"
}
