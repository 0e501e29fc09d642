# shellcheck shell=bash
# Finds out what this machine lacks. To be sourced by scripts/deps.sh.

use_prefix() {
  # shellcheck source=/dev/null
  if [[ -r $prefix/env.sh ]]; then . "$prefix/env.sh"; fi
}

# gcc prints a name unchanged when it has no such file, and a path when it has one.
compiler_has() { [[ $("$1" -print-file-name="$2" 2>/dev/null) == */* ]]; }

has_header() {
  local folder
  local -a folders
  IFS=: read -r -a folders <<<"${CPATH-}:${C_INCLUDE_PATH-}"
  for folder in "${folders[@]}" /usr/include /usr/local/include; do
    if [[ -n $folder && -r $folder/$1 ]]; then return 0; fi
  done
  return 1
}

# Compiles, links and runs one test. This is slower than looking for the files, but certain.
criterion_works() {
  printf '#include <criterion/criterion.h>\nTest(deps, works) { cr_assert(1); }\n' >"$scratch/test.c"
  gcc -o "$scratch/test" "$scratch/test.c" -lcriterion &&
    "$scratch/test" 2>&1 | tee "$scratch/output" && grep -q 'Passing: 1' "$scratch/output"
}

has_criterion() {
  if has_header criterion/criterion.h; then
    # Without gcc nothing tells whether the library is there as well.
    if ! command -v gcc >/dev/null || compiler_has gcc libcriterion.so; then return 0; fi
  fi
  criterion_works >/dev/null 2>&1
}

has_clang_format() {
  command -v clang-format-14 >/dev/null || [[ $(clang-format --version 2>/dev/null) == *" 14."* ]]
}

# NumPy is for a test of examples/, and Thrust and CUB are for CUDA programs that are not the lab's (scripts/nvcc-cpu). So
# they are not asked for where the tests are not.
has_numpy() { scripts/examples.sh --python numpy >/dev/null; }

# The parts of which the lab book is made: md4c, and the JavaScript libraries that it contains.
find_missing_of_book() {
  if ! has_header md4c-html.h || ! compiler_has gcc libmd4c-html.so; then required+=(libmd4c-html0-dev libmd4c-dev); fi
  local package
  while read -r package; do required+=("$package"); done < <(LAB_DEPS=$prefix scripts/book_libraries.sh --missing)
  command -v git >/dev/null || required+=(git)
  command -v patch >/dev/null || required+=(patch)
}

# Its test needs a browser, and a client of the protocol that drives it.
find_missing_of_browser() {
  command -v chromium >/dev/null || required+=(chromium)
  scripts/examples.sh --python websocket >/dev/null || required+=(python3-websocket)
}

# Fills the arrays `required` and `wanted` with the Debian packages that are missing.
find_missing() {
  required=() wanted=()
  command -v make >/dev/null || required+=(make)
  if ! command -v gcc >/dev/null; then
    required+=(gcc g++ libc6-dev)
  else
    command -v g++ >/dev/null && compiler_has g++ libstdc++.so && compiler_has g++ libgomp.spec ||
      required+=(g++)
    compiler_has gcc crt1.o || required+=(libc6-dev)
  fi
  if ! has_criterion; then
    if [[ $criterion_is == required ]]; then
      required+=(libcriterion-dev)
    else
      wanted+=(libcriterion-dev)
    fi
  fi
  command -v gnuplot >/dev/null || wanted+=(gnuplot-nox)
  has_clang_format || wanted+=(clang-format-14)
  command -v git >/dev/null || wanted+=(git)
  command -v patch >/dev/null || wanted+=(patch)
  if [[ $criterion_is == required ]]; then
    has_numpy || wanted+=(python3-numpy)
    has_header thrust/version.h || wanted+=(libthrust-dev)
    has_header cub/version.cuh || wanted+=(libcub-dev)
  fi
  if [[ $book == yes ]]; then find_missing_of_book; fi
  if [[ $browser == yes ]]; then find_missing_of_browser; fi
}
