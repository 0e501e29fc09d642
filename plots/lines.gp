# Makes ready panel p of a chart of lines: its place beside the others, its title, and the name of each
# line at its right end, in the line's colour and with its marker. $lines holds line i as index i - 1.
# The chart sets: p, y_title (the panel's title follows it), label_room (for the names, of the canvas), and rows of panels if not one.
if (!exists("rows")) { rows = 1 }
columns = (panels + rows - 1) / rows
if (dumb) {
  set title heading.panel_title[p]."\n".subtitle
  set ylabel y_title
  set key outside right noenhanced
} else {
  if (p == 1) { set multiplot }
  if (p > 1) { unset label }
  column = (p - 1) % columns
  row = (p - 1) / columns
  set lmargin at screen column * 0.98 / columns + 90.0 / canvas_width
  set rmargin at screen (column + 1) * 0.98 / columns - label_room
  set tmargin at screen 0.9 - row * 0.84 / rows - 45.0 / canvas_height # a panel's title above it
  set bmargin at screen 0.9 - (row + 1) * 0.84 / rows + 70.0 / canvas_height # and the axis below
  unset label 1005
  set label 1 y_title.panel_title[p] at graph 0,1.035 left noenhanced
  do for [i = first_line[p]:last_line[p]] {
    set label 100 + i line_name[i] at graph 1.02,first label_y[i] left offset 0.8,0 noenhanced font ",12" \
      tc rgb colour(line_style[i]) point pt marker(line_style[i]) ps 0.8 lc rgb colour(line_style[i])
  }
}
line_title(i) = dumb ? line_name[i] : ""
