# Draws a chart of panels with bars, a bar for each step, on axes of powers of ten; its awk program has
# written them with print_bars. The chart sets: columns, rows,
# and first_panel where a terminal need not show all.
if (!dumb) { set multiplot }
if (!exists("first_panel")) { first_panel = 1 }
do for [p = first_panel:|panel_title|] {
  if (dumb) {
    set title heading.": ".panel_title[p]."\n".subtitle
  } else {
    if (p > 1) { unset label }
    column = (p - 1) % columns
    row = (p - 1) / columns
    set lmargin at screen column * 0.98 / columns + 0.02
    set rmargin at screen (column + 1) * 0.98 / columns
    set tmargin at screen 0.81 - row * 0.84 / rows
    set bmargin at screen 0.81 - row * 0.84 / rows - 0.84 / rows + 100.0 / canvas_height
    set label 1 panel_title[p] at graph 0,1 left offset 0,1.3 font ",14"
  }
  set logscale y 10
  set yrange [lowest[p]:highest[p]]
  set xrange [-0.6:steps - 0.4]
  set border 1
  unset ytics
  unset grid
  set xtics scale 0
  plot $bars using 1:(column(p + 2)):xticlabels(2) with boxes lc rgb blue, \
       $bars using 1:(column(p + 2)):(strcol(p + 2 + |panel_title|)) with labels offset 0,0.7 font ",11"
}
