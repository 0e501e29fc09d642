# How near the steps come to PyTorch's attention: 1 is as fast. Below 0.5 the documents behind this lab say
# stop and profile (dotted line); from 0.5 to 1, keep going; above 1, ahead.
# Title: Share of the peers' speed
# Data: peers.csv (make peers)
# Each: head_dim dtype
# On: gpu
canvas_width = 1200; canvas_height = 960
y_title = "times as fast"
load "plots/style.gp"
load "plots/lengths.gp"
set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
label_room = 0.135
rows = (panels + 1) / 2
do for [p = 1:panels] {
  load "plots/lines.gp"
  plot 1 lc rgb grey lw 1.5, 0.5 lc rgb grey dt 3 lw 1.5, \
       for [i = first_line[p]:last_line[p]] $lines index i - 1 using 1:2 with linespoints \
         lc rgb colour(line_style[i]) pt marker(line_style[i]) dt dash(line_style[i]) lw 1.6 ps 0.8 title line_title(i)
}
