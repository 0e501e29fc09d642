# shellcheck shell=bash
# Looks at compilers, tools and the machine itself. To be sourced by scripts/doctor.sh, whose rows they print.

is_missing() { [[ $missing == *" $1"$'\n'* || $missing == *" $1" ]]; }

# compiles COMPILER FLAGS SUFFIX: whether the compiler builds the program on standard input.
compiles() {
  cat >"$scratch/probe.$3"
  # shellcheck disable=SC2086 # several flags
  timeout 3 "$1" $2 -o "$scratch/probe" "$scratch/probe.$3" >/dev/null 2>&1
}

check_compilers() {
  if is_missing gcc || is_missing libc6-dev; then
    needed missing gcc "no gcc, or no headers of the C library" "$install_compiler"
  elif compiles gcc -std=c17 c <<<'int main(void) { return 0; }'; then
    row ok gcc "$(gcc -dumpfullversion)  $(command -v gcc)"
  else
    needed old gcc "$(gcc -dumpfullversion)  $(command -v gcc)" "cannot compile C17: install a newer one (the lab is made with gcc 12)"
  fi
  if is_missing g++; then
    needed missing g++ "no g++, or one without OpenMP" "$install_compiler"
  elif compiles g++ "-std=c++17 -fopenmp" cpp <<<$'#include <omp.h>\n#include <optional>\n
    int main() { return std::optional<int>(omp_get_max_threads()).value() < 1; }'; then
    row ok g++ "$(g++ -dumpfullversion)  $(command -v g++)  C++17, OpenMP"
  else
    needed old g++ "$(g++ -dumpfullversion)  $(command -v g++)" \
      "cannot compile C++17 with -fopenmp: install a newer one (the lab is made with g++ 12)"
  fi
}

# clang can take the place of gcc and g++, but nothing needs it.
check_clang() {
  local version use="make CC=clang CXX=clang++; sanitize and count still compile the kernels with g++"
  command -v clang >/dev/null && command -v clang++ >/dev/null || return
  version="$(version_in "$(clang --version)")  $(command -v clang)"
  if compiles clang++ "-std=c++17 -fopenmp" cpp <<<$'#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }'; then
    row ok clang "$version  C++17, OpenMP" "$use"
  else
    row optional clang "$version" "cannot compile C++17 with -fopenmp, and is not needed: with libomp-dev (Debian) $use"
  fi
}

check_tools() {
  local version
  version=$(version_in "$(make --version 2>/dev/null)")
  if is_missing make; then
    needed missing make - "scripts/deps.sh installs it, or says how"
  elif [[ -z $version ]] || ((${version%%.*} < 4)); then
    needed old make "$version  $(command -v make)" "the lab needs GNU make 4 or newer"
  else
    row ok make "$version  $(command -v make)"
  fi
  if is_missing libcriterion-dev; then
    row missing Criterion - "$install; without it no make check"
  else
    version=$(pkg-config --modversion criterion 2>/dev/null)
    row ok Criterion "$version  $(readlink -f "$(gcc -print-file-name=libcriterion.so)")"
  fi
  no_charts=''
  if is_missing gnuplot-nox; then
    no_charts="no gnuplot"
    row optional gnuplot - "$install; without it there are no charts"
  elif ! version=$(gnuplot --version 2>&1); then # such as one without a library that it needs
    no_charts="gnuplot does not run"
    row optional gnuplot - "it does not run: ${version##*$'\n'}; install it anew: without it there are no charts"
  else
    row ok gnuplot "$(version_in "${version/ patchlevel /.}")  $(command -v gnuplot)"
  fi
  if is_missing clang-format-14; then
    version=$(clang-format --version 2>/dev/null)
    row optional "clang-format 14" "${version:--}" "$install; without it no format check"
  else
    version=$(command -v clang-format-14 || command -v clang-format)
    row ok "clang-format 14" "$(version_in "$("$version" --version)")  $version"
  fi
  if is_missing git; then
    row optional git - "$install; without it, records carry no commit"
  else
    row ok git "$(version_in "$(git --version)")  $(command -v git)"
  fi
  if is_missing patch; then
    row optional patch - "$install; without it, no planted bugs, variants and substeps"
  else
    row ok patch "$(version_in "$(patch --version)")  $(command -v patch)"
  fi
  wait "$python_pid"
  {
    read -r version && read -r torch
  } <"$scratch/python"
  if [[ -n ${torch-} ]]; then
    row ok "python3, PyTorch" "$version, $torch  $(command -v python3)"
  else
    row optional "python3, PyTorch" "${version:-no python3}${version:+, no PyTorch}" \
      "only to compare with PyTorch's attention, on a GPU: guide/examples.md says how to install it"
  fi
}

check_machine() {
  local total available free
  case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-aarch64)
    row ok processor "$(uname -m), $(nproc) cores  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    ;;
  *) needed missing processor "$(uname -s) on $(uname -m)" "the lab runs on Linux, x86-64 and aarch64" ;;
  esac
  total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
  available=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  row ok memory "$total MiB, $available MiB available" \
    "$( ((available < 1024)) && echo "under 1024 MiB: large shapes will not fit")"
  if ! [[ -w . ]]; then
    needed missing "this folder" "you may not write to $PWD" "copy the lab to a folder of yours, and work there"
  fi
  free=$(df -Pm . | awk 'NR == 2 { print $4 }')
  row ok "disk here" "$free MiB free" "$( ((free < 1024)) && echo "under 1024 MiB: builds may fail")"
}
