# Draws the panels of a chart of lines, whose awk program has written them with print_lines: their axes, and
# the name of each line at its right end, in a darker tone of its colour and with its marker; a thin line leads there from the
# last point. $lines holds line i as index i - 1, with the columns x, y, the ends of y's interval, and 1 where the GPU was
# held back. The chart sets: y_title (the panel's title follows it), and where it wants so log_ytics,
# y_format, and across: an array of the places of lines across.
if (!exists("x_title")) { x_title = "sequence length" }
if (!exists("across")) { array across[1] = [NaN] }
if (!exists("log_ytics")) { log_ytics = "autofreq" }
header = 130.0; above = 55.0; below = 90.0; left = 110.0; right = 280.0 # pixels; labels stand on the right
column_width = canvas_width / columns
set xlabel x_title offset 0,0.6
set logscale x 2
set grid xtics ytics
set xrange [shortest / 1.15:longest * 1.15]
set xtics () font ",15" offset 0,0.3
set ytics font ",18"
set for [i = 1:|lengths|] xtics add (sprintf("%.9g", lengths[i]) lengths[i])
if (exists("y_format")) { set format y y_format }
across_dash(i) = i == 1 ? 1 : 3
marker_of(i) = line_marker[i] ? line_marker[i] : marker(line_style[i])
line_title(i) = dumb ? line_name[i] : ""
if (!dumb) { set multiplot }
do for [p = 1:panels] {
  if (dumb) {
    set title heading.panel_title[p]."\n".subtitle
    set ylabel y_title
    set key outside right noenhanced maxcols 1 width -2 samplen 2
  } else {
    if (p > 1) {
      unset label
      unset arrow
    }
    column = (p - 1) % columns
    row = (p - 1) / columns
    top = header + row * (above + panel_height + below) + above
    set lmargin at screen (column * column_width + left) / canvas_width
    set rmargin at screen ((column + 1) * column_width - right) / canvas_width
    set tmargin at screen 1 - top / canvas_height
    set bmargin at screen 1 - (top + panel_height) / canvas_height
    unset label 1005
    names_at = ((column + 1) * column_width - right + 38) / canvas_width
    set label 1 y_title.panel_title[p] at graph 0,1 left offset 0,0.9 noenhanced
    do for [i = first_line[p]:last_line[p]] {
      set arrow 100 + i from first last_x[i],last_y[i] to screen names_at - 14.0 / canvas_width,first label_y[i] \
        nohead lw 0.7 lc rgb colour(line_style[i]) back
      set label 100 + i line_name[i] at screen names_at,first label_y[i] left offset 0.8,-0.25 noenhanced font ",17" \
        tc rgb ink(line_style[i]) point pt marker_of(i) ps 0.7 lc rgb colour(line_style[i])
    }
  }
  if (linear[p]) {
    unset logscale y
    set ytics autofreq
  } else {
    set logscale y 10
    set ytics @log_ytics
  }
  set yrange [lowest[p]:highest[p]]
  last_interval = dumb ? 0 : last_line[p] # a terminal has no room for intervals: gnuplot 6 draws dots over the points
  plot for [i = 1:|across|] across[i] lc rgb grey lw 1.5 dt across_dash(i), \
       for [i = first_line[p]:last_line[p]] $lines index i - 1 using 1:2 with linespoints \
         lc rgb colour(line_style[i]) pt marker_of(i) dt dash(line_style[i]) lw width(line_style[i]) ps 0.7 \
         title line_title(i), \
       for [i = first_line[p]:last_interval] $lines index i - 1 using 1:3:(0):($4 - $3) with vectors nohead \
         lw 5 lc rgb colour(line_style[i]), \
       for [i = first_line[p]:last_line[p]] $lines index i - 1 using 1:($5 > 0 ? $2 : NaN) with points \
         pt 6 ps 1.3 lw 1.2 lc rgb "black"
}
