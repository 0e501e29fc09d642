# shellcheck shell=bash
# Files and folders that appear whole or not at all, also when two scripts write the same one at once: each is
# written beside its place, under a name that nothing else has, and renamed. To be sourced.

# write_whole FILE: writes standard input to FILE, which keeps its permissions. It runs in a subshell, whose trap
# leaves nothing beside FILE, whatever signal ends it.
write_whole() (
  file=$1
  writer=$BASHPID- # part of the name, so that the trap knows it before the file is made
  trap 'rm -f "$file.$writer"*.tmp' EXIT
  partial=$(beside "$file") || exit
  if cat >"$partial" && { chmod --reference="$file" "$partial" 2>/dev/null || chmod "$(new_mode)" "$partial"; } &&
    mv -fT "$partial" "$file"; then
    exit
  fi
  echo "error: cannot write $file" >&2
  exit 2
)

# folder_beside FOLDER: makes a new folder beside it, for `mv -T` to put in its place, and prints its name.
folder_beside() {
  local partial
  partial=$(beside "$1" -d) && chmod +rx "$partial" && echo "$partial"
}

# beside PATH [-d]: makes an empty file, or folder, beside the path; says in a sentence where it cannot.
beside() {
  if ! mktemp "${@:2}" "$1.${writer-}XXXXXXXX.tmp" 2>/dev/null; then
    echo "error: cannot write $1: nothing can be made in its folder" >&2
    return 2
  fi
}

# Prints the permissions of a new file that the umask leaves. The files made above are closed to other users.
new_mode() { printf '%o\n' $((0666 & ~0$(umask))); }
