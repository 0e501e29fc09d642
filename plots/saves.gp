# What each step asks of the machine for one forward pass: what a step saves is seen here before it is
# seen in the time. 0 stands where nothing is counted, a dash where the source cannot count it.
# Title: What each step saves
# Data: counts.csv (make count)
canvas_width = 1200; canvas_height = 720
load "plots/style.gp"
columns = 3
rows = 2
load "plots/bars.gp"
