# shellcheck shell=bash
# Files that appear whole or not at all, also when two scripts write the same one at once. To be sourced.

# write_whole FILE: what stands on standard input becomes FILE, with the permissions that it had. It is written beside it
# first, under a name that nothing else has.
write_whole() {
  local file=$1 partial
  partial=$(mktemp "$file.XXXXXXXX.tmp") || return
  if cat >"$partial" && { chmod --reference="$file" "$partial" 2>/dev/null || chmod "$(new_mode)" "$partial"; } &&
    mv -fT "$partial" "$file"; then
    return
  fi
  rm -f "$partial"
  return 1
}

# The permissions of a new file: mktemp leaves others out, the umask need not.
new_mode() { printf '%o\n' $((0666 & ~0$(umask))); }
