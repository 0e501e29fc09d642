# Makes a listing of `nvdisasm -c -g` readable: kernels by their names, and before the instructions of a
# source line the line itself.
#   awk -v root="$PWD" -v kernels="FILE" -f annotate_sass.awk
# FILE holds rows of tabs: mangled name, readable name.
BEGIN {
  while ((getline line <kernels) > 0) {
    split(line, field, "\t")
    readable[field[1]] = field[2]
  }
}

# Returns the text of a line of a file, or "" when there is no such file.
function source_line(file, number,    line, n) {
  if (!(file in lines)) {
    n = 0
    while ((getline line <file) > 0) source[file, ++n] = line
    close(file)
    lines[file] = n
  }
  return source[file, number]
}

/^\/\/-+ \.text\./ {
  name = $2
  sub(/^\.text\./, "", name)
  print "// ==== " (name in readable ? readable[name] : name) " ===="
  next
}
/^\t\/\/## File "/ {
  split($0, quoted, "\"")
  number = quoted[3]
  gsub(/[^0-9]/, "", number)
  file = quoted[2]
  text = source_line(file, number)
  sub("^.*/include/", "", file) # the toolkit's headers
  if (index(file, root "/") == 1) file = substr(file, length(root) + 2)
  sub(/^ +/, "", text)
  print "\n// " file ":" number "  " text
  next
}
/^ +\/\*[0-9a-f]+\*\/|^\.L/ { print }
