# What each step asks of the machine for one forward pass: what a step saves is seen here before it is
# seen in the time. 0 stands where nothing is counted, a dash where the source cannot count it.
# Title: What each step saves
# Data: counts.csv (make count)
load "plots/style.gp"
load "plots/rows.gp"
