# Functions that the tables share. They write rows of Markdown, and times with their significant digits. This file
# is loaded behind scripts/csv.awk and scripts/text.awk.

# Prints a row from cells that are separated by tabs, with numbers to the right and the words of the first columns
# to the left.
function row(cells) {
  gsub(/\|/, "\\|", cells)
  gsub(/\t/, " | ", cells)
  print "| " cells " |"
}
# Prints the header; `words` says how many columns of words come first.
function header(cells, words,  count, i, line) {
  row(cells)
  count = split(cells, unused, "\t")
  line = "|"
  for (i = 1; i <= count; i++) line = line (i <= words ? "---|" : "---:|")
  print line
}
# Prints the last line, which says what was measured, and which files hold the data.
function origin() {
  if (files_read != "") print "\n" provenance() ": " files_read " in `" folder "`."
}
!(FILENAME in named) {
  named[FILENAME] = 1
  here = FILENAME
  sub(/\/[^\/]*$/, "", here)
  if (folder != "" && folder != here) files_read = files_read " in `" folder "`"
  files_read = files_read (files_read == "" ? "" : ", ") "`" file ".csv`"
  folder = here
}

# Returns a number with three significant digits, such as 0.779, 15.8, 179, 1234.
function significant(value) { return value == "" ? "" : rounded(value, value) }
# Returns a value with as many digits as give `like` three significant ones.
function rounded(value, like,  digits) {
  digits = 2 - magnitude(like)
  return sprintf("%." (digits > 0 ? digits : 0) "f", value)
}
# Returns a share, such as 0.93 or 0.0013.
function share_text(value) { return value == "" ? "" : sprintf(value < 0.1 ? "%.2g" : "%.2f", value) }
# Returns the decimal exponent of the value.
function magnitude(value) {
  if (value <= 0) return 0
  value = log(value) / log(10) + 1e-9
  return value < 0 && value != int(value) ? int(value) - 1 : int(value)
}
# Returns a median in milliseconds with its interval, such as 3.079 [3.076, 3.080]. A time below 20 microseconds is
# followed by that of the same launch in a replayed graph, and by what an empty kernel takes. A time that was taken
# while power or heat slowed the GPU down is followed by a note.
function time_cell(  like, text) {
  if (!timed()) return field("check") == "ok" ? "not timed" : field("check")
  like = field("median_ms") / 10 # a fourth digit
  text = rounded(field("median_ms"), like)
  if (field("ci_low_ms") != "") text = text " [" rounded(field("ci_low_ms"), like) ", " rounded(field("ci_high_ms"), like) "]"
  if (field("median_ms") < 0.02 && field("floor_ms") != "") {
    if (field("graph_ms") != "") text = text ", in a replayed graph " rounded(field("graph_ms"), like)
    text = text "; an empty kernel takes " rounded(field("floor_ms"), like)
  }
  return text throttled_text()
}
function throttled_text() { return field("throttled") == 1 ? ", throttled" : "" }

# Returns a ratio with its interval, such as 1.38 [1.37, 1.39] from the columns speedup, speedup_low and
# speedup_high, or "" where the row has none.
function ratio_cell(name,  value) {
  value = field(name)
  if (value == "") return ""
  if (field(name "_low") == "") return ratio_digits(value, value)
  return ratio_digits(value, value) " [" ratio_digits(field(name "_low"), value) ", " \
    ratio_digits(field(name "_high"), value) "]"
}
# Returns a share with its interval in percent, such as 92.0 % [91.8, 92.3] from the columns efficiency, efficiency_low
# and efficiency_high, or "" where the row has none.
function percent_cell(name,  text) {
  if (field(name) == "") return ""
  text = sprintf("%.1f %%", 100 * field(name))
  if (field(name "_low") == "") return text
  return text sprintf(" [%.1f, %.1f]", 100 * field(name "_low"), 100 * field(name "_high"))
}
# Returns the speed-up over the step before with both in one configuration, and the name of this configuration. It is
# empty where they have none in common, or where the record is older than this comparison.
function same_tile_cell(  ratio) {
  ratio = ratio_cell("speedup_same")
  return ratio == "" ? "" : ratio " in " field("same_configuration")
}
# Returns a ratio, with three digits if it is large, and else with the digits of a share.
function ratio_digits(value, like) { return like < 0.1 ? sprintf("%.2g", value) : like < 1 ? sprintf("%.2f", value) : rounded(value, like) }

# --- a table of names by sequence length ---------------------------------------------------------

# Puts a cell into the row's place. Where one length was measured with two shapes, the larger one counts.
function grid_add(name, cell,  size) {
  size = field("batch") * field("heads")
  if (size < grid_size[name, field("seq_q")] + 0) return
  grid_size[name, field("seq_q")] = size
  grid[name, field("seq_q")] = cell
  grid_names[name]
  grid_lengths[field("seq_q")]
}
# Returns false when there is nothing to print.
function grid_print(what,  names, lengths, name, seq, i, j, line) {
  names = sort_names(grid_names, name)
  lengths = sort_numbers(grid_lengths, seq)
  if (!names) return 0
  line = what "; seq"
  for (j = 1; j <= lengths; j++) line = line "\t" seq[j]
  header(line, 1)
  for (i = 1; i <= names; i++) {
    line = readable(name[i])
    for (j = 1; j <= lengths; j++) line = line "\t" grid[name[i], seq[j]]
    row(line)
  }
  return 1
}
