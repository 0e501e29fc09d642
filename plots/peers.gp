# How near the steps come to PyTorch's attention: 1 is as fast. Below 0.5 the documents behind this lab say
# stop and profile (dotted line); from 0.5 to 1, keep going; above 1, ahead. Small bars are 95 % intervals.
# Title: Share of the peers' speed
# Data: peers.csv (make peers)
# Each: head_dim dtype
# On: gpu
# Takes: STEPS WITH AXIS
y_title = "times as fast"
log_ytics = "(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)"
array across[2] = [1, 0.5]
load "plots/style.gp"
load "plots/lines.gp"
