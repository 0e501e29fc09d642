# shellcheck shell=bash
# Unpacks Debian packages into a folder, which needs no root, and says there where they lie. To be sourced by
# scripts/deps.sh behind apt.sh.

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

# A compiler from a folder does not find its parts: their paths are built into it.
has_compilers() { [[ " $* " =~ " gcc "|" g++ "|" libc6-dev " ]]; }

# without_compilers PACKAGE...: prints the others, one a line.
without_compilers() { printf '%s\n' "$@" | grep -v -x -F -e gcc -e g++ -e libc6-dev; }

# Fills `reason` where there is nothing to try.
unpack_into_prefix() {
  local package library
  local -a wished
  mapfile -t wished < <(without_compilers "$@")
  reason=
  if ((${#wished[@]} == 0)); then return 1; fi
  if ! can_unpack; then
    reason="only Debian's packages can be unpacked into $prefix, and there is no apt-get here"
    return 1
  fi
  make_work
  if ! { system_lists_are_fresh && download "${wished[@]}"; }; then
    use_own_lists && download "${wished[@]}" || return
  fi
  for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$prefix" 2>>"$log" || return
  done
  # The links that Debian's `alternatives` would make.
  if [[ -x $prefix/usr/bin/gnuplot-nox ]]; then ln -sf gnuplot-nox "$prefix/usr/bin/gnuplot"; fi
  for library in "$prefix"/usr/lib/*/{blas/libblas,lapack/liblapack}.so.3; do # of NumPy
    if [[ -e $library ]]; then ln -sf "${library#"${library%/*/*}"/}" "${library%/*/*}/"; fi
  done
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
PYTHONPATH ROOT/usr/lib/python3/dist-packages
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
