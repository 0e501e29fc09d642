# The memory that one sequence needs. The score matrix grows with the square of the length: four times as
# much for a length twice as long. The tensors themselves grow with the length.
# Title: Memory for one sequence
# Data: bench.csv (make bench)
# Each: head_dim
# On: gpu
y_title = "bytes"
y_format = "%.0s %cB"
load "plots/style.gp"
load "plots/lines.gp"
