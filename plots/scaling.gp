# Speed against the length of the sequence, at the same number of tokens: short sequences give a step
# little work for each block, long ones show what it can reach. Dotted lines: measured ceilings, and figures
# of other runs, which quoted.csv tells the source of.
# Title: Speed by sequence length
# Data: bench.csv (make bench)
# With: peers.csv (make peers), ceilings.csv (make ceilings), quoted.csv
# Each: head_dim dtype
# On: gpu
canvas_width = 1200; canvas_height = 640
y_title = "TFLOP/s"
load "plots/style.gp"
load "plots/lengths.gp"
label_room = 0.135
do for [p = 1:panels] {
  load "plots/lines.gp"
  plot for [i = first_line[p]:last_line[p]] $lines index i - 1 using 1:2 with linespoints \
         lc rgb colour(line_style[i]) pt marker(line_style[i]) dt dash(line_style[i]) lw 1.6 ps 0.8 title line_title(i)
}
