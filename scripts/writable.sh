#!/usr/bin/env bash
# Folders that the lab writes to. To be sourced, or run: scripts/writable.sh FOLDER...
export LC_ALL=C

# need_writable FOLDER...: makes each folder unless it is there; ends the script with a sentence where the lab cannot
# write to it, as in a checkout that belongs to another user.
need_writable() {
  local folder
  for folder in "$@"; do
    if ! mkdir -p "$folder" 2>/dev/null || ! [ -w "$folder" ]; then
      echo "error: cannot write to $folder: the lab builds and keeps your files below its own folder, so copy the" \
        "lab to a folder of yours (cp -r \"$PWD\" ~) and work there" >&2
      exit 2
    fi
  done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -eu
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  need_writable "$@"
fi
