# shellcheck shell=bash
# Where a record comes from, as common/record/record.c tells it: its last two columns. To be sourced from the
# root of the lab.
# shellcheck disable=SC2034 # for the script that sources it
commit=${LAB_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
