# shellcheck shell=bash
# Which problems the variants and the substeps of a step are timed on. To be sourced.

# problems_of STEP CALLED: sets `problems` to the names of the records, and `options` to the ladder's options for
# each, of a step's variants or substeps (CALLED). These are the three problems of the tables, unless the step is made
# for others: then steps/NN_name/problems.txt names them. Each line there holds a record and the options, if it has
# any. A record whose name begins with * is one of variants as well as one of substeps, and a line that begins with #
# is a comment:
#   *-dim128           --batch 1 --heads 10 --seq 2048 --dim 128
#   variants-few-keys  --batch 1 --heads 16 --seq 1536
# `make splits` takes the line that begins with splits.
problems_of() {
  local record words file=steps/$1/problems.txt
  # shellcheck disable=SC2034 # both are for the script that sources it
  problems=("$2" "$2-dim128" "$2-causal") options=('' '--heads 16 --dim 128' '--causal')
  if ! [ -f "$file" ]; then return; fi
  problems=() options=()
  while read -r record words; do
    record=${record/#'*'/$2}
    if [ "${record%%-*}" = "$2" ]; then
      problems+=("$record")
      options+=("$words")
    fi
  done < <(grep -v '^#' "$file")
}
