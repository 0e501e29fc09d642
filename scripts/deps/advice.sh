# shellcheck shell=bash
# Says how a person gets what is missing. To be sourced by scripts/deps.sh.

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
python3-numpy     python3-numpy  python-numpy  python3-numpy  NumPy (calls from Python)
libthrust-dev     -              -             -              Thrust (CUDA programs that use it, on the emulator)
libcub-dev        -              -             -              CUB (CUDA programs that use it, on the emulator)
libmd4c-html0-dev md4c-devel     md4c       md4c-devel       md4c (the documents of the lab book)
libmd4c-dev       md4c-devel     md4c       md4c-devel       the headers of md4c (the lab book)
libjs-d3          -              -          -                d3 (the charts of the lab book)
node-prismjs      -              -          -                Prism (the sources in the lab book)
node-diff         -              -          -                jsdiff (the marked words in the lab book)
chromium          chromium       chromium   chromium         chromium (the test of the lab book)
python3-websocket python3-websocket-client  python-websocket-client  python3-websocket-client  websocket-client (the test of the lab book)
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
  if [[ $rootless == no ]] && can_unpack && [[ -n $(without_compilers "$@") ]]; then
    echo "  without root$(has_compilers "$@" && echo ", all but the compilers"): make deps PREFIX=.deps (unpacks Debian packages into the folder .deps)"
  fi
  if has_compilers "$@"; then
    echo "  compilers without root: conda create -n lab -c conda-forge make gcc gxx"
  fi
  if [[ $missing == *" libcriterion-dev "* ]]; then
    echo "  Criterion elsewhere: https://github.com/Snaipe/Criterion/releases"
  fi
  if [[ $missing == *" clang-format-14 "* ]]; then
    echo "  clang-format elsewhere: pip install clang-format==14.0.6 (in a virtual environment of Python)"
  fi
}
