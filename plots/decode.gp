# One query against many keys: how fast K and V are read, against the number of keys. At best a step is as fast as a
# kernel that does nothing but read.
# Title: Speed of reading K and V in decode
# Data: decode.csv (make decode)
# On: gpu
# Takes: STEPS WITH AXIS
y_title = "GB/s"
x_title = "keys"
load "plots/style.gp"
load "plots/lines.gp"
