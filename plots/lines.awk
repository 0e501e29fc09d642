# Charts of lines, in panels; lines.gp draws them. A program calls add_line for each line of the panel at hand, then
# end_panel, and at last print_lines.

# A row of a line's points. Without an interval its ends are the value.
function point(x, y, low, high, held_back) {
  return x "\t" y "\t" (low == "" ? y : low) "\t" (high == "" ? y : high) "\t" held_back + 0 "\n"
}

# A line, from rows of point(). Its label stands right of its last point. Its marker is that of its style, or another one.
function add_line(name, style_number, points, marker,  row, part, first, count) {
  lines++
  panel_lines++
  line_points = line_points points "\n\n"
  line_name = line_name ", " quoted(name)
  line_style = line_style ", " style_number
  line_marker = line_marker ", " marker + 0
  count = split(points, row, "\n") - 1
  split(row[1], first, "\t")
  split(row[count], part, "\t")
  last_x = last_x ", " part[1]
  last_y = last_y ", " part[2]
  line_end[lines] = part[2]
  panel_words = panel_words (panel_words == "" ? "" : "; ") name " " three_digits(first[2])
  panel_words = panel_words (count > 1 ? " at " first[1] " and " three_digits(part[2]) " at " part[1] : "")
}

# Collects a value of the row that is read: of a panel, a name, a place on the x axis, with its interval. Where one place
# was measured with two shapes, the larger one counts, and of one shape the row that was read last.
function put(panel, name, x, value, low, high) {
  put_shape(panel, name, x, value, low, high, field("batch"), field("heads"), throttled())
}
function put_shape(panel, name, x, value, low, high, batch, heads, held_back,  key, size) {
  key = panel SUBSEP name SUBSEP x
  size = batch * heads
  if (held_back) any_throttled = 1
  if (size < put_size[key] + 0) return
  put_size[key] = size
  put_value[key] = value
  put_low[key] = low
  put_high[key] = high
  put_throttled[key] = held_back
  x_set[x]
  name_set[name]
  panel_set[panel]
  if (size >= size_at[x] + 0) {
    size_at[x] = size
    batch_at[x] = batch
    heads_at[x] = heads
  }
}
# The same as lines of the panel at hand: those of the names, in their order, that have any. A chart may set marker_of[name].
function add_lines(panel, name, names, x, xs,  i, j, key, points) {
  for (i = 1; i <= names; i++) {
    points = ""
    for (j = 1; j <= xs; j++) {
      key = panel SUBSEP name[i] SUBSEP x[j]
      if (key in put_value)
        points = points point(x[j], put_value[key], put_low[key], put_high[key], put_throttled[key])
    }
    if (points != "") add_line(readable(name[i]), number_of(name[i]), points, marker_of[name[i]])
  }
}
# Sets lowest_put and highest_put.
function find_range(  key) {
  for (key in put_value) {
    if (lowest_put == "" || put_value[key] < lowest_put) lowest_put = put_value[key]
    if (put_value[key] > highest_put) highest_put = put_value[key]
  }
}

# The panel's y axis goes from `low` to `high`.
function end_panel(panel_name, low, high, is_linear_axis) {
  panels++
  if (panel_lines > most_lines) most_lines = panel_lines
  panel_low[panels] = is_linear_axis ? 0 : low
  panel_high[panels] = high
  panel_linear[panels] = is_linear_axis + 0
  panel_first[panels] = lines - panel_lines + 1
  panel_last[panels] = lines
  panel_title = panel_title ", " quoted(panel_name)
  description = description (description == "" ? "" : " ") "Panel" panel_name ": " panel_words "."
  panel_words = ""
  panel_lines = 0
}

function on_axis(panel, value) { return panel_linear[panel] ? value : log10(value) }
function off_axis(panel, place) { return panel_linear[panel] ? place : 10 ^ place }

# Everything for gnuplot: seq[1..lengths] are the values below the x axis. The height of the panels is what their
# labels need.
function print_lines(seq, lengths, columns,  i, p, list, height, bottom, top, place, low, high, linear, first, last, label) {
  height = 21 * most_lines
  if (height < 380) height = 380
  for (p = 1; p <= panels; p++) {
    bottom = on_axis(p, panel_low[p])
    top = on_axis(p, panel_high[p])
    for (i = panel_first[p]; i <= panel_last[p]; i++) place[i - panel_first[p] + 1] = on_axis(p, line_end[i])
    spread(place, panel_last[p] - panel_first[p] + 1, 20.5 / height * (top - bottom), top, bottom)
    for (i = panel_first[p]; i <= panel_last[p]; i++) label = label ", " off_axis(p, place[i - panel_first[p] + 1])
    low = low ", " panel_low[p]
    high = high ", " panel_high[p]
    linear = linear ", " panel_linear[p]
    first = first ", " panel_first[p]
    last = last ", " panel_last[p]
  }
  print "$lines << END\n" line_points "END\npanels = " panels
  print_array("line_name", line_name, lines)
  print_array("line_style", line_style, lines)
  print_array("line_marker", line_marker, lines)
  print_array("last_x", last_x, lines)
  print_array("last_y", last_y, lines)
  print_array("label_y", label, lines)
  print_array("first_line", first, panels)
  print_array("last_line", last, panels)
  print_array("panel_title", panel_title, panels)
  print_array("linear", linear, panels)
  print_array("lowest", low, panels)
  print_array("highest", high, panels)
  for (i = 1; i <= lengths; i++) list = list ", " seq[i]
  print_array("lengths", list, lengths)
  if (columns == "" || panels < columns) columns = panels < 2 ? 1 : 2
  printf "shortest = %.9g\nlongest = %.9g\n", seq[1], seq[lengths]
  printf "columns = %d\npanel_height = %d\ncanvas_width = %d\ncanvas_height = %d\n", columns, height,
    (columns > 1 ? 1500 : 1000), 165 + int((panels + columns - 1) / columns) * (145 + height)
  printf "dumb_height = %d\n", (most_lines < 18 ? 30 : most_lines + 12)
  print "description = " quoted(description)
}

# Batch and heads of a chart by length, from batch_at[length] and heads_at[length].
function batch_text(seq, lengths,  text, i) {
  text = heads_at[seq[1]]
  for (i = 2; i <= lengths; i++) if (heads_at[seq[i]] != heads_at[seq[i - 1]]) text = text "/" heads_at[seq[i]]
  text = "heads " text ", batch " batch_at[seq[1]]
  return lengths == 1 ? text : text " at seq " seq[1] " to " batch_at[seq[lengths]] " at " seq[lengths]
}
