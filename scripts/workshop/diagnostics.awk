# Shows what compilers (g++, clang++, nvcc) say of a participant's file: each diagnostic once, errors first, at the
# line of that file. -v file=FILE is its name. A template is compiled for two types and several sizes, and the
# compiler repeats each diagnostic for all of them. A diagnostic inside a header is shown at the line of the file that led
# there. What the compiler says of the emulator's or the lab's own headers is left out.
# Exit status 1 when there is nothing to show.

function mine(path) { return path == file || substr(path, length(path) - length(file)) == "/" file }

# Types of the emulator under the names that CUDA gives them.
function plain(text) {
  gsub(/emulator::/, "", text)
  gsub(/number16<fp16_format>/, "__half", text)
  gsub(/number16<bf16_format>/, "__nv_bfloat16", text)
  gsub(/number16_pair<fp16_format>/, "__half2", text)
  gsub(/number16_pair<bf16_format>/, "__nv_bfloat162", text)
  gsub(/ \[with [^]]*\]/, "", text)
  return text
}

# Begins a diagnostic at path:line; the lines behind it belong to it. Its key leaves out the types, which differ
# between the instances of a template.
function begin(path, number, kind, message,  key, where) {
  now = 0
  if (message ~ /nothing_behind_this_line_is_compiled/) return # behind an #error of the emulator, which says enough
  message = plain(message)
  sub(/^#error /, "", message) # which clang leaves out
  if (message ~ /^".*"$/) message = substr(message, 2, length(message) - 2)
  inside = !mine(path) && led_from != ""
  where = mine(path) ? file ":" number : inside ? file ":" led_from : path ":" number
  key = where " " kind " " message
  gsub(/__nv_bfloat16/, "__half", key)
  now = key in seen ? 0 : ++count
  seen[key] = 1
  if (!now) return
  severe[now] = kind != "warning"
  text[now] = "  " where ": " kind ": " message "\n"
  if (inside) text[now] = text[now] "    inside of " path ":" number ", which this line calls\n"
  shows = mine(path)
}

{ gsub(/\033\[[0-9;]*[mK]/, "") }

# Where a template or a header was asked for: the first such line behind a title is the nearest. Of headers g++ writes one
# title, and clang++ one for each header.
/: In (instantiation|function|member function|lambda)/ || (/^In file included from/ && !titled) { led_from = ""; now = 0 }
{ titled = /^In file included from/ }
match($0, /^[^ ].*:[0-9]+:[0-9]+: +required (from|by)/) || match($0, /^ +required from/) {
  split($0, word, ":")
  if (led_from == "" && mine(word[1])) led_from = word[2]
  now = 0
  next
}
/^(In file included| +from )/ { if (match($0, /:[0-9]+[,:]/) && index($0, file)) led_from = substr($0, RSTART + 1, RLENGTH - 2); now = 0; next }

match($0, /^[^ :]+:[0-9]+(:[0-9]+)?: (fatal error|error|warning): /) {
  head = substr($0, 1, RLENGTH)
  split(head, word, ":")
  kind = head ~ /error: $/ ? "error" : "warning"
  begin(word[1], word[2], kind, substr($0, RLENGTH + 1))
  next
}
# nvcc
match($0, /^[^ (]+\([0-9]+\): (error|warning)( #[-0-9D]+)?: /) {
  head = substr($0, 1, RLENGTH)
  path = head
  sub(/\(.*/, "", path)
  number = substr(head, length(path) + 2) + 0
  begin(path, number, head ~ /\): error/ ? "error" : "warning", substr($0, RLENGTH + 1))
  next
}
match($0, /undefined reference to /) {
  led_from = ""
  begin(file, match($0, /\.cu:[0-9]+/) ? substr($0, RSTART + 4, RLENGTH - 4) : 1, "error", substr($0, index($0, "undefined")))
  next
}
/^error: / { led_from = ""; now = ++count; severe[now] = 1; shows = 0; text[now] = "  " $0 "\n"; next }
/: note: / {
  split($0, word, ":")
  shows = now && mine(word[1])
  if (shows) text[now] = text[now] "    line " word[2] ": " plain(substr($0, index($0, "note: "))) "\n"
  next
}
# The line of the source, and the marks below it.
now && shows && /^ *[0-9]* \|/ { text[now] = text[now] "  " $0 "\n"; next }
/^[^ ]/ { now = 0 }

END {
  for (errors = 1; errors >= 0; errors--)
    for (n = 1; n <= count; n++)
      if (severe[n] == errors) {
        if (++shown <= 8) printf "%s", text[n]
      }
  if (shown > 8) printf "  and %d more\n", shown - 8
  exit !shown
}
