# What part of a measured ceiling each step reaches: 100 % is what the GPU's multipliers do when nothing else is asked
# of them, measured in the same units.
# Title: Share of the measured ceiling
# Data: bench.csv (make bench), ceilings.csv (make ceilings)
# With: peers.csv (make peers)
# Each: head_dim dtype
# On: gpu
# Takes: STEPS WITH AXIS
y_title = "% of the ceiling"
array across[1] = [100]
load "plots/style.gp"
load "plots/lines.gp"
