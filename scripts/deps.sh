#!/usr/bin/env bash
# Makes sure that this machine has what the lab needs.
#
#   scripts/deps.sh                   installs what is missing (as root, or through `sudo -n`)
#   scripts/deps.sh PREFIX            unpacks what is missing into PREFIX instead; needs no root
#   scripts/deps.sh --without-tests   the same, but Criterion is only wanted, not required
#   scripts/deps.sh --nvdisasm        fetches NVIDIA's disassembler into PREFIX with pip, for sass, where the
#                                     CUDA toolkit lacks it
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

log=build/deps.log
prefix=.deps
rootless=no
list_only=no
criterion_is=required
disassembler=no
for argument in "$@"; do
  case $argument in
  --missing) list_only=yes ;;
  --without-tests) criterion_is=wanted ;;
  --nvdisasm) disassembler=yes ;;
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

# ---------------------------------------------------------------------------- what is missing

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
  if has_header criterion/criterion.h && compiler_has gcc libcriterion.so; then return 0; fi
  criterion_works >/dev/null 2>&1
}

has_clang_format() {
  command -v clang-format-14 >/dev/null || [[ $(clang-format --version 2>/dev/null) == *" 14."* ]]
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
}

# ------------------------------------------------------------------- packages for a person

# Names under apt, dnf, pacman and zypper (a dash: not known to be packaged), then in words.
table='
make              make         make       make             make (runs everything)
gcc               gcc          gcc        gcc              gcc (compiles C)
g++               gcc-c++      gcc        gcc-c++          g++ with OpenMP (compiles the steps for the CPU)
libc6-dev         glibc-devel  glibc      glibc-devel      the headers of the C library
libcriterion-dev  -            criterion  criterion-devel  Criterion (the tests)
gnuplot-nox       gnuplot      gnuplot    gnuplot          gnuplot (the charts)
clang-format-14   -            -          -                clang-format 14 (the format check)
git               git          git        git              git (the commit in records)
patch             patch        patch      patch            patch (the planted bugs)
'

in_words() {
  local package words=''
  for package in "$@"; do
    words+=${words:+, }$(awk -v package="$package" \
      '$1 == package { $1 = $2 = $3 = $4 = ""; sub(/^ +/, ""); print }' <<<"$table")
  done
  echo "$words"
}

# names_under COLUMN PACKAGE...: each name once.
names_under() {
  local column=$1
  shift
  awk -v column="$column" -v packages=" $* " 'index(packages, " " $1 " ") && NF && $column != "-" &&
    !seen[$column]++ { printf "%s%s", separator, $column; separator = " " }' <<<"$table"
}

# Prints how to get the packages: with this machine's package manager, or with each if it has none.
how_to_get() {
  local missing=" $* " manager names
  local -a managers=()
  local -A column=([apt-get]=1 [dnf]=2 [pacman]=3 [zypper]=4)
  local -A install=([apt-get]="apt-get update && apt-get install -y --no-install-recommends"
    [dnf]="dnf install" [pacman]="pacman -S --needed" [zypper]="zypper install")
  for manager in apt-get dnf pacman zypper; do
    if command -v "$manager" >/dev/null; then managers+=("$manager"); fi
  done
  if ((${#managers[@]} == 0)); then managers=(apt-get dnf pacman zypper); fi
  for manager in "${managers[@]}"; do
    names=$(names_under "${column[$manager]}" "$@")
    if [[ -n $names ]]; then echo "  as root: ${install[$manager]} $names"; fi
  done
  if [[ $rootless == no ]] && can_unpack; then
    echo "  without root: make deps PREFIX=.deps (unpacks Debian packages into the folder .deps)"
  fi
  if [[ $missing =~ " gcc "|" g++ "|" libc6-dev " ]]; then
    echo "  compilers without root: conda create -n lab -c conda-forge make gcc gxx"
  fi
  if [[ $missing == *" libcriterion-dev "* ]]; then
    echo "  Criterion elsewhere: https://github.com/Snaipe/Criterion/releases"
  fi
  if [[ $missing == *" clang-format-14 "* ]]; then
    echo "  clang-format elsewhere: python3 -m pip install clang-format==14.0.6"
  fi
}

# ----------------------------------------------------------------------------------------- apt

# A server that does not answer costs ten seconds, and is not tried again.
network=(-q -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
state=(-o DPkg::Lock::Timeout=60) # becomes the options for lists of our own, see use_own_lists
export LC_ALL=C                   # apt's messages are searched below

# run_logged WHAT COMMAND...: runs it into the log, with a dot every two seconds on a terminal.
run_logged() {
  local what=$1 ticker result
  shift
  echo "== $*" >>"$log"
  if ! [[ -t 1 ]]; then
    say "$what"
    "$@" >>"$log" 2>&1 </dev/null
    return
  fi
  printf 'deps: %s ' "$what"
  while sleep 2; do printf .; done &
  ticker=$!
  trap 'kill "$ticker" 2>/dev/null; remove_work' EXIT
  "$@" >>"$log" 2>&1 </dev/null
  result=$?
  trap remove_work EXIT
  kill "$ticker"
  wait "$ticker" 2>/dev/null
  echo
  return $result
}

# apt gives its lists the servers' dates; the folder `partial` tells when they were fetched.
system_lists_are_fresh() {
  local lists=/var/lib/apt/lists
  [[ -n $(find $lists -maxdepth 1 -name '*_Packages*' -print -quit 2>/dev/null) &&
    -n $(find $lists/partial -maxdepth 0 -mtime -7 2>/dev/null) ]]
}

simulate_install() { apt-get "${state[@]}" install -s --no-install-recommends "$@" 2>>"$log"; }

# Fills the array `available` with those of the packages that apt could install.
find_available() {
  local package
  available=("$@")
  if simulate_install "$@" >>"$log"; then return; fi
  available=()
  for package in "$@"; do
    if simulate_install "$package" >>"$log"; then available+=("$package"); fi
  done
  ((${#available[@]}))
}

# install_as_root PACKAGE...: `admin` is the command that gives root's rights, if any is needed.
install_as_root() {
  local refreshed=no
  local -a apt=("${admin[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${network[@]}" "${state[@]}")
  if ! system_lists_are_fresh; then
    # One server that fails does not matter yet: the packages may come from another.
    run_logged "fetching apt's package lists" "${apt[@]}" update
    refreshed=yes
  fi
  until find_available "$@" && run_logged "installing ${available[*]}" \
    "${apt[@]}" install -y --no-install-recommends "${available[@]}"; do
    if [[ $refreshed == yes ]]; then return 1; fi
    # The lists may name versions that the servers have replaced since.
    run_logged "fetching newer package lists" "${apt[@]}" update
    refreshed=yes
  done
}

can_unpack() { command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; }

# Uses package lists under the prefix, for users who may not refresh those of the system.
use_own_lists() {
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" || return
  state=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
  run_logged "fetching package lists into $prefix" apt-get "${network[@]}" "${state[@]}" update
}

# Downloads the packages with their missing dependencies and fills the array `packages`.
download() {
  find_available "$@" || return
  # Another C library, found before the system's, would break every program.
  mapfile -t packages < <(simulate_install "${available[@]}" |
    awk '$1 == "Inst" && $2 !~ /^(libc6|libc-bin)(:|$)/ { print $2 }')
  rm -rf "$work/packages" # of an attempt before
  mkdir -p "$work/packages" || return
  run_logged "downloading ${available[*]}: ${#packages[@]} packages with dependencies" \
    env -C "$work/packages" apt-get "${network[@]}" "${state[@]}" download "${packages[@]}"
}

unpack_into_prefix() {
  local package
  local -a wished=()
  for package in "$@"; do
    # A compiler from a folder does not find its parts: their paths are built into it.
    case $package in gcc | g++ | libc6-dev) ;; *) wished+=("$package") ;; esac
  done
  if ((${#wished[@]} == 0)); then return 1; fi
  if ! can_unpack; then
    say "only Debian's packages can be unpacked into $prefix, and there is no apt-get here"
    return 1
  fi
  make_work
  if ! { system_lists_are_fresh && download "${wished[@]}"; }; then
    use_own_lists && download "${wished[@]}" || return
  fi
  for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$prefix" 2>>"$log" || return
  done
  # The link that Debian's `alternatives` would make.
  if [[ -x $prefix/usr/bin/gnuplot-nox ]]; then ln -sf gnuplot-nox "$prefix/usr/bin/gnuplot"; fi
  write_environment
  say "unpacked into $prefix: ${packages[*]}"
}

# Writes where compiler, loader and shell find what was unpacked: PREFIX/env.sh for bash, and
# PREFIX/env.mk for make. With a relative PREFIX they stay right when the lab's folder is moved.
write_environment() {
  local folder libraries='' variable path
  for folder in "$prefix"/usr/lib/*-linux-gnu* "$prefix"/lib/*-linux-gnu* "$prefix/usr/lib"; do
    if [[ -d $folder ]]; then libraries+=${libraries:+:}ROOT${folder#"$prefix"}; fi
  done
  # shellcheck disable=SC2016 # bash and make, not this script, expand these
  case $prefix in
  /*) printf 'deps_root=%q\n' "$prefix" >"$work/env.sh" && echo "deps_root := $prefix" ;;
  *)
    echo 'deps_root=$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null && pwd)' >"$work/env.sh"
    echo "deps_root := \$(CURDIR)/$prefix"
    ;;
  esac >"$work/env.mk"
  while read -r variable path; do
    [[ -n $path ]] || continue # no libraries
    echo "export $variable=\"${path//ROOT/\$deps_root}\${$variable:+:\$$variable}\"" >>"$work/env.sh"
    echo "export $variable := ${path//ROOT/\$(deps_root)}\$(if \$($variable),:\$($variable))" \
      >>"$work/env.mk"
  done <<END
PATH ROOT/usr/bin
C_INCLUDE_PATH ROOT/usr/include
CPLUS_INCLUDE_PATH ROOT/usr/include
LIBRARY_PATH $libraries
LD_LIBRARY_PATH $libraries
END
  # Without any fonts of the system, gnuplot would leave out every text.
  if ! [[ -r /etc/fonts/fonts.conf ]]; then
    echo '<fontconfig><dir prefix="relative">usr/share/fonts</dir></fontconfig>' >"$prefix/fonts.conf"
    echo "export FONTCONFIG_FILE=\"\$deps_root/fonts.conf\"" >>"$work/env.sh"
    echo "export FONTCONFIG_FILE := \$(deps_root)/fonts.conf" >>"$work/env.mk"
  fi
  mv "$work/env.sh" "$prefix/env.sh" && mv "$work/env.mk" "$prefix/env.mk"
}

# ------------------------------------------------------------------------------- nvdisasm

# Fetches one fixed version for `make sass`, so that all readers see the same listing. A disassembler also reads the
# code of older toolkits.
nvdisasm_version=13.2.51

fetch_nvdisasm() {
  local folder=nvidia-cuda-nvdisasm-$nvdisasm_version program
  make_work
  if ! [[ -d $prefix/$folder ]]; then
    if ! run_logged "fetching NVIDIA's disassembler (5 MB, pip's package nvidia-cuda-nvdisasm $nvdisasm_version)" \
      python3 -m pip install --no-deps --only-binary :all: --retries 1 --target "$work/$folder" \
      "nvidia-cuda-nvdisasm==$nvdisasm_version"; then
      echo "error: pip could not fetch nvidia-cuda-nvdisasm $nvdisasm_version: $(tail -n 1 "$log")" \
        "(log: $log); nvdisasm comes with the CUDA toolkit as well" >&2
      exit 2
    fi
    mv -T "$work/$folder" "$prefix/$folder" || exit 2
  fi
  program=$(cd "$prefix/$folder" && find . -type f -name nvdisasm | head -n 1)
  if [[ -z $program ]]; then
    echo "error: there is no nvdisasm in $prefix/$folder: delete that folder and try again" >&2
    exit 2
  fi
  mkdir -p "$prefix/usr/bin" && ln -sf "../../$folder/${program#./}" "$prefix/usr/bin/nvdisasm" &&
    write_environment && say "nvdisasm $nvdisasm_version is in $prefix"
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
  unpack_into_prefix "${missing[@]}" || reason=$(reason_in_log)
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
