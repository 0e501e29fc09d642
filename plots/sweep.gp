# The configurations of a step, fastest first, with the interval of the median. The name of one is BLOCK_M x BLOCK_N x
# WARPS x STAGES, or without STAGES where the step has no ring of key blocks.
# Title: Configurations, ranked
# Data: sweep*.csv (make step06 sweep)
# On: gpu
load "plots/style.gp"
load "plots/rows.gp"
