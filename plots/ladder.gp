# How much faster each step is than step 01, on a GPU: the front page chart.
load "plots/style.gp"
stats csv every ::0::0 using (column("median_ms")) name "first" nooutput
speed_up(ms) = first_max / ms
label(ms, tflops) = sprintf("%.3gx\n%.3g TFLOP/s", speed_up(ms), tflops)
height = terminal eq "dumb" ? 1.5 : 1.6 # of a label above its bar, in characters

set title titled("Speed-up over step 01")
set ylabel "times as fast as step 01"
set logscale y 2
stats csv using (speed_up(column("median_ms"))) name "all" nooutput
set yrange [0.5 < all_min ? 0.5 : all_min / 2 : 2.5 * all_max]
plot csv using 0:(speed_up(column("median_ms"))):xticlabels(1) with boxes lc rgb blue, \
     csv using 0:(speed_up(column("median_ms"))):(label(column("median_ms"), column("tflops"))) \
       with labels offset 0,height
