#!/bin/bash -p
# Starts a debugger that stops in a step's kernel: scripts/workshop/gdb.sh DEVICE PROGRAM SOURCE [OPTION...] Stops
# where thread THREAD (x, 0) of block BLOCK (x,y,z, 0,0,0) enters KERNEL (the source's first). On the emulator it is
# gdb, on a GPU cuda-gdb. Commands are taken from standard input, as gdb does. With TRACE=1 there are no commands: the
# thread's source lines are printed, COUNT of them at most, with the values of its variables (trace.py).
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch
device=$1
program=$2
source=$3
shift 3
kernel=${KERNEL:-$(grep -o '\b[a-z_]*_kernel(' "$source" | head -n 1 | tr -d '(')}
IFS=, read -r x y z <<<"${BLOCK:-0}"
thread=${THREAD:-0}
for number in "$x" "${y:=0}" "${z:=0}" "$thread"; do
  if ! [[ $number =~ ^[0-9]+$ ]]; then
    echo "error: \"$number\" is no number: give BLOCK=x,y,z and THREAD=x, such as BLOCK=1,0,2 THREAD=5" >&2
    exit 2
  fi
done
if ! [[ ${COUNT:-1} =~ ^0*[1-9][0-9]*$ ]]; then
  echo "error: COUNT is \"$COUNT\": give the number of lines, such as COUNT=100" >&2
  exit 2
fi
if [ -z "$kernel" ]; then
  echo "error: $source names no kernel that ends in _kernel: give KERNEL=" >&2
  exit 2
fi
gdb=gdb
if [ "$device" = gpu ]; then
  gdb=$(command -v cuda-gdb || echo "${CUDA_HOME:-/usr/local/cuda}/bin/cuda-gdb")
fi
if ! command -v "$gdb" >/dev/null; then
  echo "error: there is no $gdb: $([ "$device" = gpu ] && echo 'it comes with the CUDA toolkit; or give DEVICE=cpu' || echo 'install the package gdb')" >&2
  exit 2
fi
if [ -n "${TRACE-}" ] && [ "$device" = gpu ]; then
  echo "error: trace follows a thread of the emulator: add DEVICE=cpu" >&2
  exit 2
fi
python=no
if [ "$device" = cpu ] && "$gdb" -q -batch -ex 'python print("yes")' 2>/dev/null | grep -q yes; then python=yes; fi
if [ -n "${TRACE-}" ] && [ $python = no ]; then
  echo "error: trace needs a gdb that knows Python, and this one does not: install the package gdb" >&2
  exit 2
fi
export LAB_THREAD="emulator_current->block->block_index.x == $x && emulator_current->block->block_index.y == $y && \
emulator_current->block->block_index.z == $z && emulator_current->thread_index.x == $thread"
export LAB_CHOSEN="thread $thread of block ($x,$y,$z)" LAB_KERNEL=$kernel LAB_SOURCE=$source LAB_COUNT=${COUNT-}
commands=$scratch/commands
{
  echo 'set pagination off'
  echo 'set confirm off'
  echo 'set print frame-arguments none'
  echo 'set print thread-events off'
  if [ "$device" = cpu ]; then
    echo 'set breakpoint pending on'
    # The values of the names that kernels use; on the emulator see
    # common/emulator/include/device_launch_parameters.h.
    echo 'macro define threadIdx (emulator_current->thread_index)'
    echo 'macro define blockIdx (emulator_current->block->block_index)'
    echo 'macro define blockDim (emulator_current->block->block_dim)'
    echo 'macro define gridDim (emulator_current->block->grid_dim)'
    echo "break $kernel if $LAB_THREAD"
    if [ $python = yes ]; then echo 'source scripts/workshop/gdb_thread.py'; fi
    echo run
    if [ -n "${TRACE-}" ]; then echo 'source scripts/workshop/trace.py'; fi
  else
    # A breakpoint at the name alone would stop in the host's function that launches the kernel, where there is no
    # blockIdx. So it stops at each launch, up to that of the kernel, and looks at the thread.
    echo 'set cuda break_on_launch application'
    echo run
    awk -v kernel="$kernel" '/<<</ { if (index($0, kernel)) exit; print "continue" }' "$source"
    printf 'cuda block (%d,%d,%d) thread (%d,0,0)\n' "$x" "$y" "$z" "$thread"
  fi
} >"$commands"
if [ -n "${TRACE-}" ]; then
  LAB_WIDTH=$([ -t 1 ] && tput cols 2>/dev/null || echo 100)
  export LAB_WIDTH
  LAB_LIMIT=0 "$gdb" -q -batch -x "$commands" --args "$program" --no-check --no-time "$@" 3>&1 >"$scratch/gdb"
  exit
fi
LAB_LIMIT=0 "$gdb" -q -x "$commands" --args "$program" --no-check --no-time "$@"
