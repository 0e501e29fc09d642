# Speed against the length of the sequence, at the same number of tokens: short sequences give a step
# little work for each block, long ones show what it can reach. Small bars are 95 % intervals. Dotted lines: measured
# ceilings, and figures of other runs, which quoted.csv tells the source of.
# Title: Speed by sequence length
# Data: bench.csv (make bench)
# With: peers.csv (make peers), ceilings.csv (make ceilings), quoted.csv
# Each: head_dim dtype
# On: gpu
# Takes: STEPS WITH AXIS
y_title = "TFLOP/s"
load "plots/style.gp"
load "plots/lines.gp"
