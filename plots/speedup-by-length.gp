# How many times as fast each step is as the base, at every length. BASE chooses the base: a step, or a peer. Small bars
# are 95 % intervals.
# Title: Speed-up by sequence length
# Data: bench.csv (make bench)
# With: peers.csv (make peers)
# Each: head_dim dtype
# On: gpu
# Takes: STEPS BASE WITH AXIS
y_title = "times as fast"
log_ytics = "(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)"
array across[1] = [1]
load "plots/style.gp"
load "plots/lines.gp"
