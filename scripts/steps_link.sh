#!/bin/bash -p
# Makes a name that make can work with for a folder of steps: scripts/steps_link.sh FOLDER Prints the name of a link
# to it in build/folders, whose name holds letters, digits and _ - . alone; there need not be such a folder.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath --canonicalize-missing -- "$1")
name=$(basename -- "$folder")
read -r sum _ < <(cksum <<<"$folder")
link=build/folders/${name//[^A-Za-z0-9._-]/_}-$sum
if [ "$(readlink -- "$link")" != "$folder" ]; then
  mkdir -p build/folders
  ln -s -- "$folder" "$link.$$"
  mv -T -- "$link.$$" "$link"
fi
echo "$link"
