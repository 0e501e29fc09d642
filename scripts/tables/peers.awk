# TFLOP/s by sequence length of steps and peers in one run, and the steps' share of the best peer's speed.
# Arguments: DEVICE HEAD_DIM DTYPE CAUSAL
# Data: peers.csv (make peers)
field("head_dim") == head_dim && field("dtype") == dtype && field("causal") == causal {
  grid_add(field("step"), timed() ? significant(field("tflops")) : field("check"))
  if (timed() && !is_step(field("step")) && (!(problem() in best) || field("median_ms") < best[problem()]))
    best[problem()] = field("median_ms")
  milliseconds[field("step"), problem()] = timed() ? field("median_ms") : 0
  if (timed() && field("share_best") != "") paired[field("step"), problem()] = field("share_best")
}
END {
  for (key in milliseconds) {
    split(key, part, SUBSEP)
    what = substr(key, length(part[1] SUBSEP) + 1)
    if (is_step(part[1]) && milliseconds[key] && what in best && grid_size[part[1], part[5]] == part[2] * part[3])
      grid[part[1], part[5]] = grid[part[1], part[5]] " (" share_text(key in paired ? paired[key] : best[what] / milliseconds[key]) ")"
  }
  if (!grid_print("TFLOP/s (of the best peer)")) print "No row of this kind is recorded: `make peers` records it."
  origin()
}
