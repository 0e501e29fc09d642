# How many times as fast each step is as the first, on a GPU: the front page chart. On a logarithmic axis a
# bar twice as long is not twice as fast: the numbers say what is.
# Title: Speed-up
# Data: ladder*.csv (make ladder)
# With: peers.csv (make peers)
# On: gpu
# Takes: STEPS BASE WITH AXIS
load "plots/style.gp"
load "plots/rows.gp"
