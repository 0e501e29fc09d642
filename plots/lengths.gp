# The axes of a chart by sequence length: doublings across, powers of ten up. The chart's awk program has
# written lengths, shortest, longest, lowest and highest (print_length_axes).
set logscale x 2
set logscale y 10
set xlabel "sequence length"
set grid xtics ytics
set xrange [shortest / 1.15:longest * 1.15]
set yrange [lowest:highest]
set xtics () font ",12"
set for [i = 1:|lengths|] xtics add (sprintf("%d", lengths[i]) lengths[i])
