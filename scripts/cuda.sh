#!/bin/bash -p
# Compiles one CUDA file for the emulator and runs it, for make cuda: FILE, MODE, ARGS and SEEDS are in the environment.
# With SEEDS it runs once in each of so many orders of threads, and shows what the program prints in the first one, the
# plain one. It ends with the first run that does not end with 0.
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
if [ -n "${SEEDS:-}" ]; then
  if ! [[ $SEEDS =~ ^[1-9][0-9]{0,5}$ ]]; then
    echo "error: SEEDS is \"$SEEDS\": give a number from 1 on" >&2
    exit 2
  fi
  if [ -n "${EMU_SEED:-}" ]; then
    echo "error: SEEDS tries several orders of threads, and EMU_SEED is one of them: leave one of the two out" >&2
    exit 2
  fi
fi
scripts/writable.sh build
mkdir -p build/cuda
name=$(basename "${FILE%.*}")
program=build/cuda/$name${MODE:+-$MODE}
scripts/nvcc-cpu ${MODE:+"--mode=$MODE"} "$FILE" -o "$program" -I"$(dirname "$FILE")"
[ -n "${SEEDS:-}" ] || exec scripts/with_args.sh "$program"
scripts/with_args.sh "$program"
for ((seed = 1; seed < SEEDS; seed++)); do
  EMU_QUIET=1 EMU_SEED=$seed scripts/with_args.sh "$program" >/dev/null || {
    status=$?
    echo "cuda: that was with EMU_SEED=$seed" >&2
    exit $status
  }
done
if [ "$SEEDS" -eq 1 ]; then
  echo "cuda: it ended with 0 in one order of threads" >&2
else
  echo "cuda: it ended with 0 in each of $SEEDS orders of threads" >&2
fi
