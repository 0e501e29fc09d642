#!/bin/bash -p
# Runs a command with the words of ARGS behind its own: ARGS="--seq 100 --causal" scripts/with_args.sh COMMAND...
export LC_ALL=C
set -eu
# shellcheck source=scripts/words.sh
. "$(dirname "${BASH_SOURCE[0]}")/words.sh"
split_words "${ARGS:-}"
exec "$@" "${words[@]}"
