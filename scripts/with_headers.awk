# Prints a step's source with the text of headers in it, each piece where another step has the piece of the same name:
# awk -v headers="a.cuh b.cuh" -f with_headers.awk OTHER STEP. So a diff between the two shows what has changed, and
# not that lines have moved to a header.
#
# A piece is a function, a type, a constant or a macro with its comment: text between blank lines that are followed by
# a line without indentation. A piece of a header goes behind the piece that comes before its namesake in OTHER, or,
# where OTHER has no such piece, behind the piece before it in the header. A header's own head, its guard and includes
# are left out, and so are the stamps of the timeline, which are empty in all other builds.

# Reads the pieces of a file into text[1...] and returns how many there are.
function read_pieces(file, text,    line, count, blank) {
  count = 0
  blank = 1
  while ((getline line <file) > 0) {
    if (line == "") {
      blank++
      continue
    }
    if (blank && line ~ /^[^ ]/)
      text[++count] = line
    else
      text[count] = text[count] (blank ? "\n\n" : "\n") line
    blank = 0
  }
  close(file)
  return count
}

# Returns the name that a piece declares, "#include" for the head of a step, or an include further below as it is.
function name_of(piece,    code, words, count) {
  code = "\n" piece
  gsub(/\n\/\/[^\n]*/, "", code)
  if (code ~ /^\n#include/) return piece ~ /^#include/ ? piece : "#include"
  gsub(/\ntemplate <[^\n]*>/, "", code)
  gsub(/__launch_bounds__\([^\n]*\) __global__/, "", code)
  gsub(/\n/, " ", code)
  sub(/[({=;].*/, "", code)
  sub(/ +$/, "", code)
  count = split(code, words, /[ &*]+/)
  return words[count]
}

# Adds a piece behind number `place` of the step's.
function insert(place, piece, name,    i) {
  for (i = step_count++; i > place; i--) {
    step[i + 1] = step[i]
    step_name[i + 1] = step_name[i]
  }
  step[place + 1] = piece
  step_name[place + 1] = name
}

function find(name,    i) {
  for (i = 1; i <= step_count; i++)
    if (step_name[i] == name) return i
  return 0
}

# Returns behind which piece of the step the piece of this name belongs, or 0 where OTHER has no piece of the name.
function place_of(name,    i, place) {
  for (i = other_count; i > 0 && other_name[i] != name; i--) continue
  for (i--; i > 0; i--)
    if (place = find(other_name[i])) return place
  return 0
}

BEGIN {
  other_count = read_pieces(ARGV[1], other)
  for (i = 1; i <= other_count; i++) other_name[i] = name_of(other[i])
  step_count = read_pieces(ARGV[2], step)
  for (i = 1; i <= step_count; i++) step_name[i] = name_of(step[i])
  header_count = split(headers, header)
  for (h = 1; h <= header_count; h++) {
    split("", pieces)
    count = read_pieces(header[h], pieces)
    last = 1
    for (i = 1; i <= count; i++) {
      if (("\n" pieces[i]) ~ /\n#(ifndef|include|endif)/) continue # the guard, or the includes
      gsub(/ TIMELINE_SITE|TIMELINE_PASS_FIRST/, "", pieces[i])
      gsub(/\n *TIMELINE_[^\n]*/, "", pieces[i])
      name = name_of(pieces[i])
      place = place_of(name)
      if (!place) place = last
      insert(place, pieces[i], name)
      last = place + 1
    }
  }
  for (i = 1; i <= step_count; i++) print (i > 1 ? "\n" : "") step[i]
}
