# What each step asks of the machine, counted by the emulator: times on a CPU would mean nothing.
# Title: What each step asks of the machine
# Data: ladder*.csv (make ladder)
# On: emulator
load "plots/style.gp"
first_panel = dumb ? panels : 1 # a terminal shows one, so that the table above it stays in view
load "plots/rows.gp"
