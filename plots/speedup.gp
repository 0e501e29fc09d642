# How much faster each step is than step 01, on a GPU: the front page chart. On this axis of doublings a
# bar twice as high is not twice as fast: the numbers say what is.
# Title: Speed-up over step 01
# Data: ladder*.csv (make ladder)
# With: peers.csv (make peers)
# On: gpu
y_title = "times as fast"
load "plots/style.gp"
set logscale y 2
set xrange [-0.6:bars - 0.4]
set yrange [lowest / 2.0:2.5 * highest]
name_font = bars > 8 ? ",12" : ",15"
set xtics noenhanced scale 0 font name_font
bar_colour(is_peer) = is_peer > 0 ? 0xb8b8b8 : 0x0072b2
plot $bars using 1:2:(bar_colour($5)):xticlabels(4) with boxes lc rgb variable, \
     $bars using 1:2:3 with labels offset 0,(dumb ? 1.5 : 1.6) font name_font
