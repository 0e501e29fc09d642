# How the times of one step scatter: every sample as a point, against the step's own median, so that all
# steps fit one axis. Boxes: the middle half of the samples; whiskers: 5 % to 95 %.
# Title: Scatter of the times
# Data: bench-samples.csv (make bench)
# On: gpu
y_title = "from the step's median, %"
load "plots/style.gp"
set format y "%+.3g"
set xrange [-0.6:steps - 0.4]
set yrange [lowest:highest]
name_font = steps > 8 ? ",12" : ",15"
set xtics noenhanced scale 0 font name_font
set style fill solid 0.5 border
set boxwidth 0.5
plot $boxes using 1:3:2:5:4:xticlabels(7) with candlesticks whiskerbars 0.5 lc rgb blue, \
     $samples using 1:2 with points pt 7 ps (dumb ? 1 : 0.35) lc rgb "#80000000", \
     $boxes using 1:(highest):6 with labels offset 0,(dumb ? 0 : -1) font ",12" tc rgb grey
