# TFLOP/s by sequence length: steps and peers.
# Arguments: DEVICE HEAD_DIM DTYPE CAUSAL
# Data: bench.csv (make bench)
# With: peers.csv (make peers)
field("head_dim") == head_dim && field("dtype") == dtype && field("causal") == causal {
  cell = field("step") SUBSEP field("batch") SUBSEP field("seq_q")
  if (file == "bench") benched[cell]
  # Of the steps, peers.csv gives the lengths that bench.csv lacks.
  if (file == "bench" || !is_step(field("step")) || !(cell in benched))
    grid_add(field("step"), timed() ? significant(field("tflops")) : field("check"))
}
END {
  if (!grid_print("TFLOP/s")) print "No row of this kind is recorded: `make bench` records it."
  origin()
}
