# The axes of a chart by sequence length, or by what x_title says: doublings across, powers of ten up. The
# chart's awk program has written lengths, shortest, longest, lowest and highest (print_length_axes).
if (!exists("x_title")) { x_title = "sequence length" }
set logscale x 2
set logscale y 10
set xlabel x_title
set grid xtics ytics
set xrange [shortest / 1.15:longest * 1.15]
set yrange [lowest:highest]
set xtics () font ",12"
set for [i = 1:|lengths|] xtics add (sprintf("%.9g", lengths[i]) lengths[i])
