# Speed against the spread of the scores, in nats: what exp is taken of. An ordinary softmax does the same work
# for all of them. A lazy max does a block of keys twice where the row max has grown too much, and fp16 allows
# it less than bf16.
# Title: Speed by the spread of the scores
# Data: spread.csv (make spread)
# Each: dtype
# On: gpu
# Takes: STEPS WITH AXIS
y_title = "TFLOP/s"
x_title = "standard deviation of the scores, nats"
load "plots/style.gp"
load "plots/lines.gp"
