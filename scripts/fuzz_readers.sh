#!/bin/bash -p
# Feeds the readers of foreign files with made-up ones: scripts/fuzz_readers.sh SECONDS npy rewrite
# Builds each common/tests/fuzz/NAME.c with clang's libFuzzer and its sanitizers, and runs it for SECONDS,
# beginning with the inputs in the folder of its name. An input that crashes it is kept in build/fuzz/NAME. Once the
# fault is mended, put the input into common/tests/fuzz/NAME, where `make check` replays it.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
seconds=$1
shift
if ! [[ $seconds =~ ^[1-9][0-9]{0,6}$ ]]; then
  echo "error: SECONDS is \"$seconds\": give a number from 1 on" >&2
  exit 2
fi
clang=${CLANG:-clang}
if ! echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
  "$clang" -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then
  echo "error: fuzz-readers needs clang with libFuzzer: install clang and libclang-rt-dev (Debian," \
    "Ubuntu) or compiler-rt (Fedora, Arch), or set CLANG" >&2
  exit 2
fi

failed=0
for name in "$@"; do
  case $name in
  npy) sources=(common/npy/*.c common/file/*.c common/error/*.c) ;;
  rewrite) sources=(common/emulator/rewrite/[!m]*.c common/file/*.c common/error/*.c) ;;
  *) echo "error: there is no common/tests/fuzz/$name.c to run" >&2 && exit 2 ;;
  esac
  folder=build/fuzz/$name
  mkdir -p "$folder/corpus"
  "$clang" -std=c17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icommon \
    "common/tests/fuzz/$name.c" "${sources[@]}" -lm -o "$folder/fuzz" || exit 2
  echo "$name: $seconds s, log in $folder/log"
  if "$folder/fuzz" -max_total_time="$seconds" -artifact_prefix="$folder/" -print_final_stats=1 -timeout=10 \
    -max_len=4096 -dict="common/tests/fuzz/$name.dict" \
    "$folder/corpus" "common/tests/fuzz/$name" >"$folder/log" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */  executed: /p; s/^stat::new_units_added: */  new inputs: /p' \
      "$folder/log"
  else
    failed=1
    grep -m 1 -A 12 'ERROR: ' "$folder/log"
    echo "FAIL  $name: the input is $(sed -n 's/.*Test unit written to //p' "$folder/log")"
  fi
done
exit $failed
