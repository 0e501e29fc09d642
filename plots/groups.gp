# How much of several GPUs the steps 21 to 23 use, by length, measured and computed.
# Title: Efficiency of several GPUs
# Data: groups.csv (make groups)
# With: groups-torch.csv
# On: gpu
# Takes: STEPS WITH
# Awk: ../scripts/group_model
y_title = "% of ideal"
load "plots/style.gp"
load "plots/lines.gp"
