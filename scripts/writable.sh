#!/bin/bash -p
# Folders that the lab writes to. To be sourced, or run: scripts/writable.sh FOLDER...
export LC_ALL=C

# need_writable FOLDER...: makes each folder unless it is there; ends the script with a sentence where the lab cannot
# write to it, as in a checkout that belongs to another user, or where a file has the name of such a folder.
need_writable() {
  local folder part
  for folder in "$@"; do
    if ! mkdir -p "$folder" 2>/dev/null || ! [ -w "$folder" ]; then
      part=$folder
      while [ ! -e "$part" ] && [[ $part == ?*/* ]]; do part=${part%/*}; done
      if [ -e "$part" ] && [ ! -d "$part" ]; then
        echo "error: cannot write to $folder: $part is a file, and the lab needs a folder of this name: give the file" \
          "another name" >&2
        exit 2
      fi
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
