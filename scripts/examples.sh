#!/bin/bash -p
# Runs the examples, which call a step from C, NumPy and PyTorch: scripts/examples.sh build/cpu 04
#
#   scripts/examples.sh --python numpy      prints the Python that has this module; status 2 when none has it
#
# An example whose Python module is missing is left out with a line that says so. Exit status 1 when an example finds
# that the step is wrong.
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

# Debian installs modules for /usr/bin/python3, which need not be the python3 of PATH.
python_with() { # module
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import $1" >/dev/null 2>&1; then
      command -v "$python"
      return
    fi
  done
  return 2
}

if [ "${1-}" = --python ]; then
  python_with "${2:?a module}"
  exit
fi
if [ $# -ne 2 ]; then
  echo "error: examples was given $# arguments: give the folder of the build and the step's number, build/cpu 04" >&2
  exit 2
fi
status=0
"$1/examples/from_c-$2" || status=$?
if python=$(python_with numpy); then
  "$python" examples/from_numpy.py --step "$2" --build "$1" || status=$?
else
  echo "from_numpy.py: skipped because Python has no NumPy here (make deps installs it)"
fi
device=cpu
if [ "$1" = build/gpu ]; then device=cuda; fi
if python=$(python_with torch); then
  "$python" examples/from_pytorch.py --step "$2" --device $device || status=$?
else
  echo "from_pytorch.py: skipped because Python has no PyTorch here (guide/examples.md says how to install it)"
fi
exit $status
