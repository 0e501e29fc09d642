# The configurations of a step, fastest first: BLOCK_M x BLOCK_N x WARPS x STAGES, with the interval of
# the median.
# Title: Configurations, ranked
# Data: sweep*.csv (make step06 sweep)
# On: gpu
load "plots/style.gp"
set xlabel "TFLOP/s"
set xrange [0:1.3 * highest]
set yrange [-rows - 0.6:-0.4]
unset grid
if (!dumb) { set lmargin at screen 0.16 }
set border 1
set ytics scale 0
set style fill solid 0.6 noborder
plot $bars using ($2 / 2):(-$1):(0):2:(-$1 - 0.35):(-$1 + 0.35):yticlabels(5) with boxxyerror lc rgb blue, \
     $bars using 2:(-$1):3:4 with xerrorbars pt -1 lc rgb "black", \
     $bars using 2:(-$1):6 with labels left offset 1,0 font ",13"
