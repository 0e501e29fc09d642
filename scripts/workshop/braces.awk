# Says between which lines of a participant's file the braces do not match, in one line, or nothing where they do. With
# -v part=2 it looks only where that part is. A compiler that has lost count names lines far behind, which are the lab's.
#
# A line that begins with one of these words is outside of all functions.
function outside(line) { return line ~ /^(template|static|struct|__device__|__global__|const char)([ <]|$)/ }

# A line without its comments, strings and characters.
function code(line) {
  gsub(/\\./, "", line)
  gsub(/"[^"]*"/, "", line)
  gsub(/'[^']*'/, "", line)
  gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
  sub(/\/\/.*/, "", line)
  return line
}

function say(last, more, than,  count) {
  if (here) {
    count = depth < 0 ? -depth : depth
    printf "  lines %d to %d %s %d brace%s more than they %s, so the errors below may name other lines\n", \
      first, last, more, count, (count == 1 ? "" : "s"), than
  }
  said = here
  exit
}

BEGIN {
  first = 1
  here = part == ""
}
outside($0) {
  if (depth > 0) say(FNR - 1, "open", "close")
  here = part == ""
  first = FNR
}
$0 ~ "// (TODO|end of part) " part "( |$)" { here = 1 }
{
  line = code($0)
  while (match(line, /[{}]/)) {
    depth += substr(line, RSTART, 1) == "{" ? 1 : -1
    line = substr(line, RSTART + 1)
    if (depth < 0) say(FNR, "close", "open")
  }
}
END {
  if (depth > 0 && !said) say(FNR, "open", "close")
}
