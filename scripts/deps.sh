#!/bin/bash -p
# Makes sure that this machine has what the lab needs.
#
#   scripts/deps.sh                   installs what is missing (as root, or through `sudo -n`)
#   scripts/deps.sh PREFIX            unpacks what is missing into PREFIX instead; needs no root
#   scripts/deps.sh --without-tests   the same, but Criterion is only wanted, not required
#   scripts/deps.sh --book            what the lab book is made with as well
#   scripts/deps.sh --book-check      and what its test needs, a browser of 100 MB
#   scripts/deps.sh --nvdisasm        fetches NVIDIA's disassembler into PREFIX with pip, for sass, where the
#                                     CUDA toolkit lacks it
#   scripts/deps.sh --nccl            fetches NCCL into PREFIX with pip, for steps 21 to 23 on GPUs
#   scripts/deps.sh --missing         only lists what is missing: "required PACKAGE" or
#                                     "wanted PACKAGE", one a line, under Debian's names
#
# A relative PREFIX is taken from the root of the lab. What `scripts/deps.sh .deps` has unpacked
# counts as installed from then on. CUDA is optional and never installed here. In PREFIX nothing is ever deleted
# but what the script has made there itself.
#
# Exit status: 0 when nothing required is missing (any more), 2 otherwise.
export LC_ALL=C
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch

# shellcheck source=scripts/deps/missing.sh
. scripts/deps/missing.sh
# shellcheck source=scripts/deps/advice.sh
. scripts/deps/advice.sh
# shellcheck source=scripts/deps/apt.sh
. scripts/deps/apt.sh
# shellcheck source=scripts/deps/prefix.sh
. scripts/deps/prefix.sh

log=build/deps.log
prefix=.deps
rootless=no
list_only=no
criterion_is=required
book=no
browser=no
disassembler=no
nccl=no
for argument in "$@"; do
  case $argument in
  --missing) list_only=yes ;;
  --without-tests) criterion_is=wanted ;;
  --book) book=yes criterion_is=wanted ;;
  --book-check) book=yes browser=yes criterion_is=wanted ;;
  --nvdisasm) disassembler=yes ;;
  --nccl) nccl=yes ;;
  --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' scripts/deps.sh && exit 0 ;;
  -* | '')
    echo "error: scripts/deps.sh does not know the option ${argument@Q}: see scripts/deps.sh --help" >&2
    exit 2
    ;;
  *) prefix=${argument%/} rootless=yes ;;
  esac
done

say() { echo "deps: $*"; }

# Makes the folder `work` in the prefix for downloads and unfinished files. Its name is new, and the folder is
# removed at the end, also when the script is interrupted.
work=
make_work() {
  local file
  for file in "$prefix"/env.sh "$prefix"/env.mk; do # which are written below
    if [[ -e $file ]] && ! grep -q '^deps_root' "$file"; then
      echo "error: $file is not the lab's, and would be replaced: give another PREFIX" >&2
      exit 2
    fi
  done
  if mkdir -p "$prefix" && work=$(mktemp -d "$(cd "$prefix" && pwd)/unpacking.XXXXXX"); then return; fi
  echo "error: no folder can be made in $prefix: give another PREFIX, where you may write" >&2
  exit 2
}
remove_work() {
  if [[ -n $work ]]; then rm -rf "$work"; fi
  remove_scratch
}
trap remove_work EXIT

# ------------------------------------------------------------------------------- nvdisasm

# Fetches one fixed version for `make sass`, so that all readers see the same listing. A disassembler also reads the
# code of older toolkits.
nvdisasm_version=13.2.51

# fetch_with_pip PACKAGE VERSION WHAT ELSE: leaves the package in $prefix/PACKAGE-VERSION. ELSE says where the reader may
# find it otherwise.
fetch_with_pip() {
  local folder=$1-$2
  make_work
  if [[ -d $prefix/$folder ]]; then return; fi
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "error: fetching $1 $2 needs python3 with pip, which is not here: install both (python3-pip in Debian); $4" >&2
    exit 2
  fi
  if ! run_logged "fetching $3, pip's package $1 $2)" \
    python3 -m pip install --no-deps --only-binary :all: --retries 1 --target "$work/$folder" "$1==$2"; then
    echo "error: pip could not fetch $1 $2: $(reason_of_pip) (log: $log); $4" >&2
    exit 2
  fi
  mv -T "$work/$folder" "$prefix/$folder" || exit 2
}

# pip's last line says that there is no such version, also where it has not reached a server that could tell.
reason_of_pip() {
  if grep -q -E 'NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError' "$log"; then
    echo "it cannot reach its server"
  else
    tail -n 1 "$log"
  fi
}

fetch_nvdisasm() {
  local folder=nvidia-cuda-nvdisasm-$nvdisasm_version program
  fetch_with_pip nvidia-cuda-nvdisasm $nvdisasm_version "NVIDIA's disassembler (5 MB" \
    "nvdisasm comes with the CUDA toolkit as well"
  program=$(cd "$prefix/$folder" && find . -type f -name nvdisasm | head -n 1)
  if [[ -z $program ]]; then
    echo "error: there is no nvdisasm in $prefix/$folder: delete that folder and try again" >&2
    exit 2
  fi
  mkdir -p "$prefix/usr/bin" && ln -sf "../../$folder/${program#./}" "$prefix/usr/bin/nvdisasm" &&
    write_environment && say "nvdisasm $nvdisasm_version is in $prefix"
}

# A version that lets the copy engines move the data of a collective. There is a package for each CUDA.
nccl_version=2.28.9

fetch_nccl() {
  local cuda package
  cuda=$("${NVCC:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\).*/\1/p')
  package=nvidia-nccl-cu${cuda:-13}
  fetch_with_pip "$package" $nccl_version "NCCL (300 MB" "the package libnccl-dev has NCCL as well, or give NCCL_HOME"
  ln -sfn "$package-$nccl_version/nvidia/nccl" "$prefix/nccl" && say "NCCL $nccl_version is in $prefix/nccl"
}

# ---------------------------------------------------------------------------------------- main

# Runs the programs that were just installed, because a file that is there need not work.
verify() {
  if [[ " $* " == *" libcriterion-dev "* ]] && has_criterion && ! criterion_works >>"$log" 2>&1; then
    echo "error: a test built with Criterion does not run here: $(tail -n 1 "$log") (log: $log)" >&2
    exit 2
  fi
  if [[ " $* " == *" gnuplot-nox "* ]] && command -v gnuplot >/dev/null &&
    ! gnuplot -e 'set terminal svg; set output "/dev/null"; plot x' >>"$log" 2>&1; then
    say "gnuplot is there, but does not draw: $(tail -n 1 "$log") (log: $log)"
  fi
}

# A wanted package that apt cannot have is tried again after a day, not before every `make`.
refused=$prefix/refused

refused_lately() {
  local package
  if [[ -z $(find "$refused" -mmin -1440 2>/dev/null) ]]; then return 1; fi
  for package in "$@"; do
    grep -q -x -F "$package" "$refused" || return
  done
}

# Why apt's last attempt failed, as far as its messages tell.
reason_in_log() {
  if grep -q -E 'Could not (resolve|connect)|Temporary failure|timed out|Unable to connect' "$log"; then
    echo "apt cannot reach its servers"
  else
    echo "apt has no such package or failed: $(grep '^E: ' "$log" | tail -n 1) (log: $log)"
  fi
}

open_log() {
  if { mkdir -p build && : >"$log"; } 2>/dev/null; then return; fi
  echo "error: $PWD/$log cannot be written: another user owns it, or the disk is read-only or full" >&2
  exit 2
}

if [[ $disassembler == yes ]]; then
  open_log
  fetch_nvdisasm
  exit
fi
if [[ $nccl == yes ]]; then
  open_log
  fetch_nccl
  exit
fi
use_prefix
find_missing
if [[ $list_only == yes ]]; then
  for package in "${required[@]}"; do echo "required $package"; done
  for package in "${wanted[@]}"; do echo "wanted $package"; done
  exit 0
fi
missing=("${required[@]}" "${wanted[@]}")
if ((${#missing[@]} == 0)); then
  say "everything is here"
  exit 0
fi

say "missing: $(in_words "${missing[@]}")"
open_log
admin=()
reason="apt does not offer it (log: $log)"
if [[ $rootless == yes ]]; then
  unpack_into_prefix "${missing[@]}" || reason=${reason:-$(reason_in_log)}
elif ! command -v apt-get >/dev/null; then
  reason="there is no apt-get here to install it with"
elif ((EUID != 0)) && ! sudo -n true 2>/dev/null; then
  reason="installing it takes root, or a sudo that asks for no password"
elif ((${#required[@]} == 0)) && refused_lately "${wanted[@]}"; then
  reason="apt could not install it lately (delete $refused to try again now)"
else
  if ((EUID != 0)); then admin=(sudo -n); fi
  if ! install_as_root "${missing[@]}"; then reason=$(reason_in_log); fi
  attempted=yes
fi
use_prefix
find_missing
verify "${missing[@]}"

if [[ $rootless == yes ]] && has_compilers "${required[@]}"; then
  reason="a compiler does not work from a folder of its own"
fi
if ((${#required[@]})); then
  echo "error: the lab cannot go on without $(in_words "${required[@]}"): $reason" >&2
  how_to_get "${required[@]}" "${wanted[@]}" >&2
  exit 2
fi
if ((${#wanted[@]})); then
  say "going on without $(in_words "${wanted[@]}"): $reason"
  how_to_get "${wanted[@]}"
  if [[ ${attempted-} == yes ]]; then
    mkdir -p "$prefix" && printf '%s\n' "${wanted[@]}" >"$refused"
  fi
else
  say "everything is here now"
fi
