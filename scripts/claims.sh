#!/bin/bash -p
# Checks the numbers in the prose of the documents against the recorded data: scripts/claims.sh
#
# plots/claims/*.txt name a phrase of a page and what its numbers are computed from; plots/README.md says how to write
# them. Exit status 1 when a page says something else than the records, or no longer has the phrase; 2 when a claim
# makes no sense, or a record or row that it names does not exist.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v python3 >/dev/null; then
  echo "claims: skipped, python3 is not installed"
  exit 0
fi
PYTHONPATH=scripts PYTHONDONTWRITEBYTECODE=1 exec python3 -X utf8 -m claims
