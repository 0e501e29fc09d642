# Draws the panels of a chart of bars that lie, a row for each step, so that its name can be read however many there
# are; the awk program has written them with print_rows. $rows holds panel p as index p - 1, with the columns
# row, the bar's two ends, the interval's two ends, style, name, and the words at its end. The chart may set bar_from where
# panels have names of their own.
header = 130.0; above = 55.0; below = 65.0; names = 240.0 # pixels
panel_height = row_height * row_count
column_width = (canvas_width - names - 20) / columns
set yrange [-row_count - 0.5:-0.5]
set xtics font ",16" offset 0,0.4
set grid noytics xtics
set border 1
set ytics scale 0 noenhanced font ",17"
unset key
if (!dumb) { set multiplot }
if (!exists("first_panel")) { first_panel = 1 }
do for [p = first_panel:panels] {
  if (dumb) {
    set title heading.": ".panel_title[p]."\n".subtitle
  } else {
    if (p > 1) { unset label }
    column = (p - 1) % columns
    row = (p - 1) / columns
    top = header + row * (above + panel_height + below) + above
    set lmargin at screen (names + column * column_width) / canvas_width
    set rmargin at screen (names + (column + 1) * column_width - 50) / canvas_width
    set tmargin at screen 1 - top / canvas_height
    set bmargin at screen 1 - (top + panel_height) / canvas_height
    unset label 1005
    set label 1 panel_title[p] at graph 0,1 left offset 0,0.9 noenhanced
    ytic_size = column > 0 ? ",0.1" : ",17" # names stand on the left only
    set ytics font ytic_size
    if (column > 0) { set ytics tc rgb "white" } else { set ytics tc rgb grey }
  }
  if (linear[p]) {
    unset logscale x
    set xtics autofreq
    set format x "%.4g"
  } else {
    set logscale x 10
    set xtics ()
    first_tick = 10.0 ** ceil(log10(lowest[p]) - 1e-6)
    do for [k = 0:12] {
      tick = first_tick * tick_step[p] ** k
      if (tick <= highest[p]) { set xtics add (gprintf(tick < 1000 ? "%g" : "%.0s %c", tick) tick) }
    }
  }
  set xrange [lowest[p]:highest[p]]
  plot $rows index p - 1 using 2:(-$1):2:3:(-$1 - (dumb ? 0 : 0.36)):(-$1 + (dumb ? 0 : 0.36)):(colour($6)):yticlabels(7) \
         with boxxyerror lc rgb variable, \
       $rows index p - 1 using 4:(-$1):($5 - $4):(0) with vectors nohead lw 5 lc rgb "black", \
       $rows index p - 1 using 9:(-$1):8 with labels left offset 0.7,0 noenhanced font ",16"
}
