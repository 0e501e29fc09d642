# TFLOP/s by sequence length: steps and peers.
# Arguments: DEVICE HEAD_DIM DTYPE CAUSAL
# Data: bench.csv (make bench)
# With: peers.csv (make peers)
# peers.csv comes last and replaces: what it has of a step was timed beside the peers.
field("head_dim") == head_dim && field("dtype") == dtype && field("causal") == causal {
  grid_add(field("step"), timed() ? significant(field("tflops")) : field("check"))
}
END {
  if (!grid_print("TFLOP/s")) print "No row of this kind is recorded: `make bench` records it."
  origin()
}
