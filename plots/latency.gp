# How the times of one step scatter: every sample as a point, against the step's own median, so that all
# steps fit one axis. Boxes: the middle half of the samples; whiskers: 5 % to 95 %; the line in the box is the median.
# Title: Scatter of the times
# Data: bench-samples.csv (make bench)
# On: gpu
load "plots/style.gp"
set format x "%+.3g"
set xlabel "from the step's median, %"
set yrange [-steps - 0.6:-0.4]
set xrange [lowest:highest]
set grid noytics xtics
set border 1
set ytics scale 0 noenhanced font ",17"
unset key
set xtics font ",16"
if (!dumb) {
  set lmargin at screen 215.0 / canvas_width
  set rmargin at screen 1 - 580.0 / canvas_width
  set tmargin at screen 1 - 120.0 / canvas_height
  set bmargin at screen 110.0 / canvas_height
}
set style fill solid 0.5 border
# In a terminal there is no room on the right: the median stands behind the name.
row_name(name, said) = dumb ? name.", ".said[1:strstrt(said, ",") - 1] : name
plot $boxes using 3:(-$1):3:4:(-$1 - 0.33):(-$1 + 0.33):(colour($6)):yticlabels(row_name(strcol(7), strcol(8))) with boxxyerror lc rgb variable, \
     $boxes using 2:(-$1):($5 - $2):(0) with vectors nohead lw 1.5 lc rgb "black", \
     $samples using 2:(-$1) with points pt 7 ps (dumb ? 1 : 0.35) lc rgb "#80000000", \
     $boxes using (0):(-$1 - 0.4):(0):(0.8) with vectors nohead lw 3 lc rgb "black", \
     $boxes using (dumb ? NaN : highest):(-$1):8 with labels left offset 0.5,0 noenhanced font ",16"
