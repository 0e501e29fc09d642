#!/usr/bin/env bash
# Compiles one CUDA file for the emulator and runs it, for make cuda: FILE, MODE and ARGS are in the environment.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -z "${FILE-}" ]; then
  echo "error: cuda needs the file: make cuda FILE=/path/to/x.cu" >&2
  exit 2
fi
if ! [ -f "$FILE" ]; then
  echo "error: there is no file $FILE: give FILE its path, from the lab's folder or from /" >&2
  exit 2
fi
if [[ $FILE != *.cu ]]; then
  echo "error: $FILE is no CUDA source: give FILE the path of a .cu file" >&2
  exit 2
fi
scripts/writable.sh build
mkdir -p build/cuda
name=$(basename "${FILE%.*}")
program=build/cuda/$name${MODE:+-$MODE}
scripts/nvcc-cpu ${MODE:+"--mode=$MODE"} "$FILE" -o "$program" -I"$(dirname "$FILE")"
exec scripts/with_args.sh "$program"
