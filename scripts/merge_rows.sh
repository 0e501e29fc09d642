#!/bin/bash -p
# Puts new rows into a record: scripts/merge_rows.sh OLD_CSV NEW_CSV prints those of NEW_CSV, and of OLD_CSV, which need not
# be there, those of other steps, by step. Where the files have a column gpus, rows of other numbers of GPUs stay as well.
# Comments are left out.
export LC_ALL=C
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
old=$1
[ -f "$old" ] || old=/dev/null
awk -f scripts/merge_rows.awk "$2" "$old" | {
  IFS= read -r header && printf '%s\n' "$header"
  sort --stable --field-separator=, --key=1,1
}
