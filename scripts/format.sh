#!/bin/bash -p
# Runs clang-format over the sources: scripts/format.sh -i|--dry-run FILE... Versions of clang-format lay code out
# differently, so only version 14 is used; another version gives a note only.
export LC_ALL=C
set -eu
case ${1-} in
-i | --dry-run) ;;
*)
  echo "error: format was given \"${1-}\": give -i to lay out the files that follow, or --dry-run to look at them" >&2
  exit 2
  ;;
esac
mode=$1
shift
for program in clang-format-14 clang-format; do
  if command -v "$program" >/dev/null && "$program" --version | grep -q 'version 14\.'; then
    if [ "$mode" = --dry-run ]; then
      printf '%s\0' "$@" | xargs -0 -n 50 -P "$(nproc)" "$program" --dry-run -Werror || {
        echo "format: the files above are not laid out by .clang-format: run make format"
        exit 1
      }
      echo "format: $# files are laid out by .clang-format"
    else
      "$program" -i "$@"
    fi
    exit 0
  fi
done
echo "format: skipped, clang-format 14 is not installed (make deps installs it)"
