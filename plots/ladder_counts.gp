# What each step asks of the machine, counted by the emulator: times on a CPU would mean nothing.
# Title: What each step asks of the machine
# Data: ladder*.csv (make ladder)
# On: emulator
canvas_width = 1200
load "plots/style.gp"
columns = 3
rows = 1
first_panel = dumb ? 3 : 1 # a terminal shows one, so that the table above it stays in view
load "plots/bars.gp"
