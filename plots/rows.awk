# Charts of bars that lie, a row for each step, in panels; rows.gp draws them. A program calls add_row for each row of
# the panel at hand, then end_panel, and at last print_rows.

# A bar from one value to another, its interval (empty where there is none), the words at its end.
function add_row(name, style_number, from, to, low, high, words_of_row,  furthest) {
  rows_of_panel++
  low = low == "" ? to : low
  high = high == "" ? to : high
  furthest = from > to ? from : to # the words stand right of all
  if (high > furthest) furthest = high
  rows_text = rows_text rows_of_panel "\t" from "\t" to "\t" low "\t" high "\t" style_number "\t" name "\t" \
    words_of_row "\t" furthest "\n"
  panel_words = panel_words (panel_words == "" ? "" : "; ") name " " words_of_row
}

# The x axis goes from `low` to `high`; tick_step is the factor between two ticks of a logarithmic axis, 0 a linear one.
function end_panel(panel_name, low, high, tick_step) {
  panels++
  rows_text = rows_text "\n\n"
  if (rows_of_panel > most_rows) most_rows = rows_of_panel
  panel_title = panel_title ", " quoted(panel_name)
  panel_low = panel_low ", " low
  panel_high = panel_high ", " high
  panel_linear = panel_linear ", " (tick_step ? 0 : 1)
  panel_step = panel_step ", " tick_step + 0
  description = description (description == "" ? "" : " ") (panel_name == "" ? "" : panel_name ": ") panel_words "."
  panel_words = ""
  rows_of_panel = 0
}
function print_rows(columns,  row_height) {
  row_height = 27
  print "$rows << END\n" rows_text "END"
  print_array("panel_title", panel_title, panels)
  print_array("lowest", panel_low, panels)
  print_array("highest", panel_high, panels)
  print_array("linear", panel_linear, panels)
  print_array("tick_step", panel_step, panels)
  printf "panels = %d\ncolumns = %d\nrow_count = %d\nrow_height = %d\n", panels, columns, most_rows, row_height
  printf "dumb_height = %d\n", most_rows + 12
  printf "canvas_width = %d\ncanvas_height = %d\n", (columns > 1 ? 1400 : 1000),
    170 + int((panels + columns - 1) / columns) * (120 + most_rows * row_height)
  print "description = " quoted(description)
}

# --- a panel for each count of a step ------------------------------------------------------------------

# Such panels, from bar[step, panel], empty where nothing is known, and the panels' titles, divided by "|". Where
# unseen[step, panel], the counter does not see the ways that the step takes: a number would compare what is not alike.
function add_counts(step_set, titles,  steps, step, count, panel, title, i, line, least, most, value, words_of_row, decades) {
  steps = sort_names(step_set, step)
  count = split(titles, title, "|")
  for (panel = 1; panel <= count; panel++) {
    line = ""
    for (i = 1; i <= steps; i++) line = line bar[step[i], panel]
    if (line == "") continue # of nothing that is known
    most = least = 0
    for (i = 1; i <= steps; i++) {
      value = (step[i], panel) in unseen ? 0 : bar[step[i], panel]
      if (value > most + 0) most = value
      if (value > 0 && (!least || value < least + 0)) least = value
    }
    if (!most) most = least = 1
    least = 10 ^ floor(log10(least / 1.001))
    for (i = 1; i <= steps; i++) {
      value = bar[step[i], panel]
      words_of_row = value == "" ? "-" : (step[i], panel) in unseen ? "not seen" : count_text(value, " ")
      if (value == "" || (step[i], panel) in unseen || value <= 0) value = least
      add_row(readable(step[i]), number_of(step[i]), least, value, "", "", words_of_row)
    }
    decades = log10(most / least)
    most *= 10 ^ (0.45 * (decades > 1 ? decades : 1)) # room for the words
    if (most < 10 * least) most = 10 * least # two ticks at least, or the axis has no scale
    end_panel(title[panel], least / 1.03, most, decades > 3 ? 1000 : decades > 2 ? 100 : 10)
  }
}
function floor(value) { return int(value) - (value < int(value)) }
