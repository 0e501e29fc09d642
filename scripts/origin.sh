# shellcheck shell=bash
# Sets the last two columns of a record, which say where it comes from, as common/record/record.c does. To be
# sourced from the root of the lab. shellcheck disable=SC2034 # for the script that sources it
commit=${LAB_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
