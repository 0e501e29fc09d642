# The memory that one sequence needs. The score matrix grows with the square of the length: four times as
# much for a length twice as long. The tensors themselves grow with the length.
# Title: Memory for one sequence
# Data: bench.csv (make bench)
# Each: head_dim
# On: gpu
y_title = "bytes"
load "plots/style.gp"
load "plots/lengths.gp"
label_room = 0.2
p = 1
set format y "%.0s %cB"
load "plots/lines.gp"
plot for [i = 1:|line_name|] $lines index i - 1 using 1:2 with linespoints \
       lc rgb colour(line_style[i]) pt marker(line_style[i]) dt dash(line_style[i]) lw 1.6 ps 0.8 title line_title(i)
