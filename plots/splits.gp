# The time of one step against the number of splits of the keys.
# Title: Time by the number of splits
# Data: splits*.csv (make step18 splits)
# On: gpu
# Takes: STEPS AXIS
y_title = "microseconds"
x_title = "splits"
log_ytics = "(1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1000, 2000, 3000, 5000)" # the times are near each other
load "plots/style.gp"
load "plots/lines.gp"
