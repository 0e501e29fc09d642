# Speed against the spread of the scores, in nats: what exp is taken of. An ordinary softmax does the same work
# for all of them. A lazy max does a block of keys twice where the row max has grown too much, and fp16 allows
# it less than bf16.
# Title: Speed by the spread of the scores
# Data: spread.csv (make spread)
# Each: dtype
# On: gpu
canvas_width = 1200; canvas_height = 960
y_title = "TFLOP/s"
x_title = "standard deviation of the scores, nats"
load "plots/style.gp"
load "plots/lengths.gp"
set ytics (50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 1000)
label_room = 0.135
rows = (panels + 1) / 2
do for [p = 1:panels] {
  load "plots/lines.gp"
  plot for [i = first_line[p]:last_line[p]] $lines index i - 1 using 1:2 with linespoints \
         lc rgb colour(line_style[i]) pt marker(line_style[i]) dt dash(line_style[i]) lw 1.6 ps 0.8 title line_title(i)
}
