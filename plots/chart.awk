# What the charts' awk programs share: how they tell gnuplot. Each reads CSV files, and prints a
# gnuplot script that holds the chart's data and words; its CHART.gp then draws them. scripts/plot.sh calls
# them behind scripts/csv.awk and scripts/text.awk. It sets `title`, and `without` to the files that would
# add to the chart and are not there.

# A text for gnuplot, whatever is in it: between single quotes nothing is run or looked up. "\n" in it becomes a new
# line, which takes double quotes.
function quoted(text) {
  gsub(/[\001-\037\177]/, " ", text)
  gsub(/'/, "''", text)
  gsub(/\\n/, "'.\"\\n\".'", text)
  return "'" text "'"
}

# A name that was recorded, for a text in which gnuplot sees marks of its own: x_2, {...}, @, and \ before these.
# It is drawn as it stands.
function unmarked(text) {
  gsub(/[\\{}^_@&~]/, "\\\\&", text)
  return text
}

# The words of a chart. What is not there yet stands below it.
function words(subtitle) {
  print "heading = " quoted(title)
  print "subtitle = " quoted(subtitle)
  print "corner = " quoted(provenance())
  print "note = " quoted(without == "" ? "" : "Not recorded yet: " without)
}

# Instead of a chart, a page that says why there is none.
function nothing(reason) {
  words("")
  print "nothing = " quoted(reason)
}

# The page of a chart that has one for each head_dim, or each head_dim and dtype.
function page_text() {
  return (head_dim == "" ? "" : " with head_dim " head_dim) (dtype == "" ? "" : " in " dtype)
}

# Moves labels apart that would overlap: place[1..count] become at least `gap` from one another, none
# above `most`, and stay as near to where they were as that allows. Groups that touch are moved as one,
# about their middle.
function spread(place, count, gap, most,  order, i, j, groups, first, size, sum, middle) {
  for (i = 1; i <= count; i++) {
    for (j = i - 1; j > 0 && place[order[j]] > place[i]; j--) order[j + 1] = order[j]
    order[j + 1] = i
  }
  groups = 0
  for (i = 1; i <= count; i++) {
    groups++
    first[groups] = i
    size[groups] = 1
    sum[groups] = place[order[i]] - i * gap # where the group's label number 0 would be, added up
    while (groups > 1 && sum[groups] / size[groups] < sum[groups - 1] / size[groups - 1]) {
      size[groups - 1] += size[groups]
      sum[groups - 1] += sum[groups]
      groups--
    }
  }
  for (j = 1; j <= groups; j++) {
    middle = sum[j] / size[j]
    for (i = first[j]; i < first[j] + size[j]; i++) place[order[i]] = middle + i * gap
  }
  for (i = count; i > 0; i--) {
    if (place[order[i]] > most) place[order[i]] = most
    most = place[order[i]] - gap
  }
}

function log10(value) { return log(value) / log(10) }

# --- charts of lines on a logarithmic y axis, in panels side by side; lines.gp draws them ---------

# add_line(NAME, STYLE, POINTS): a line of the panel at hand, from rows "x<tab>y". Its label stands right
# of its last point. end_panel(TITLE, LOWEST, HIGHEST): of the y axis, to keep labels apart,
# by label_gap of the axis' height.
function add_line(name, style_number, points, last_y) {
  lines++
  line_points = line_points points "\n\n"
  line_name = line_name ", " quoted(name)
  line_style = line_style ", " style_number
  panel_place[++panel_lines] = log10(last_y)
}
function end_panel(panel_name, lowest, highest,  i) {
  spread(panel_place, panel_lines, (label_gap ? label_gap : 0.042) * log10(highest / lowest), log10(highest))
  for (i = 1; i <= panel_lines; i++) label_y = label_y ", " 10 ^ panel_place[i]
  first_line = first_line ", " lines - panel_lines + 1
  last_line = last_line ", " lines
  panel_title = panel_title ", " quoted(panel_name)
  panels++
  panel_lines = 0
}
function print_lines() {
  print "$lines << END\n" line_points "END\npanels = " panels
  print_array("line_name", line_name, lines)
  print_array("line_style", line_style, lines)
  print_array("label_y", label_y, lines)
  print_array("first_line", first_line, panels)
  print_array("last_line", last_line, panels)
  print_array("panel_title", panel_title, panels)
}
# The axes of such a chart: lengths.gp draws them.
function print_length_axes(seq, lengths, lowest, highest,  i, list) {
  for (i = 1; i <= lengths; i++) list = list ", " seq[i]
  print_array("lengths", list, lengths)
  printf "shortest = %.9g\nlongest = %.9g\nlowest = %g\nhighest = %g\n", seq[1], seq[lengths], lowest, highest
}
# Of numbers and of what quoted() gives: nothing else must reach gnuplot, which runs what it is handed.
function print_array(name, values, count,  rest) {
  rest = values
  gsub(/'[^']*'/, "", rest)
  gsub(/\."\\n"\./, "", rest)
  gsub(/NaN/, "", rest)
  if (rest !~ /^[-+0-9.eE, ]*$/) {
    print "error: " name " of a chart is no list of numbers or texts:" substr(values, 2) >"/dev/stderr"
    exit refused = 2
  }
  print "array " name "[" count "] = [" substr(values, 3) "]"
}

# --- charts of bars, a panel for each count; bars.gp draws them -----------------------------------

# From bar[step, panel], empty where nothing is known, and the panels' titles, divided by "|".
function print_bars(step_set, titles,  steps, step, panels, panel, title, i, line, labels, list, least, most, kept) {
  steps = sort_names(step_set, step)
  panels = split(titles, title, "|")
  for (panel = 1; panel <= panels; panel++) { # less those that nobody has a value for
    line = ""
    for (i = 1; i <= steps; i++) line = line bar[step[i], panel]
    if (line == "") continue
    title[++kept] = title[panel]
    for (i = 1; i <= steps; i++) bar[step[i], kept] = bar[step[i], panel]
  }
  panels = kept
  for (panel = 1; panel <= panels; panel++) {
    most[panel] = least[panel] = 0
    for (i = 1; i <= steps; i++) {
      if (bar[step[i], panel] > most[panel] + 0) most[panel] = bar[step[i], panel]
      if (bar[step[i], panel] > 0 && (!least[panel] || bar[step[i], panel] < least[panel] + 0))
        least[panel] = bar[step[i], panel]
    }
    if (!most[panel]) most[panel] = least[panel] = 1
    least[panel] /= 3 # where the axis begins
  }
  print "$bars << END"
  for (i = 1; i <= steps; i++) {
    line = step[i]
    sub(/_.*/, "", line)
    line = i - 1 "\t" unmarked(line)
    labels = ""
    for (panel = 1; panel <= panels; panel++) {
      line = line "\t" (bar[step[i], panel] > 0 ? bar[step[i], panel] : least[panel])
      labels = labels "\t" (bar[step[i], panel] == "" ? "-" : count_text(bar[step[i], panel], ""))
    }
    print line labels
  }
  print "END\nsteps = " steps
  for (panel = 1; panel <= panels; panel++) list = list ", " quoted(title[panel])
  print_array("panel_title", list, panels)
  list = ""
  for (panel = 1; panel <= panels; panel++) list = list ", " least[panel]
  print_array("lowest", list, panels)
  list = ""
  for (panel = 1; panel <= panels; panel++) list = list ", " 3 * most[panel]
  print_array("highest", list, panels)
}
