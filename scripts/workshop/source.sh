#!/usr/bin/env bash
# Says whose file is built: scripts/workshop/source.sh FILE...
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/workshop/work.sh
. scripts/workshop/work.sh
for file in "$@"; do
  left=$(parts_left "$file" | wc -l)
  note=
  if [ "$left" -gt 0 ]; then note=" ($left of $(parts_in_all "$file") still to be written)"; fi
  echo "source: $file$note"
done
