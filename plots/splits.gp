# The time of one step against the number of splits of the keys.
# Title: Time by the number of splits
# Data: splits*.csv (make step18 splits)
# On: gpu
# Takes: STEPS AXIS
y_title = "microseconds"
x_title = "splits"
log_ytics = "(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)"
load "plots/style.gp"
load "plots/lines.gp"
