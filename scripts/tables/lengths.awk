# How many times as fast as the step before a step is, by sequence length, where all steps were timed in one run.
# Arguments: DEVICE NN DTYPE
# Data: peers.csv (make peers)
has_number(field("step"), nn) && field("dtype") == dtype && has_number(field("before_step"), sprintf("%02d", nn - 1)) {
  dim_set[field("head_dim")]
  grid_add(field("head_dim") SUBSEP field("causal"), share_text(field("speedup_before")))
}
END {
  lengths = sort_numbers(grid_lengths, seq)
  dims = sort_numbers(dim_set, dim)
  if (!dims) print "No row of this kind is recorded: `make peers` records it."
  line = "× the step before, " dtype "; seq"
  for (j = 1; j <= lengths; j++) line = line "\t" seq[j]
  if (dims) header(line, 1)
  for (i = 1; i <= dims; i++)
    for (causal = 0; causal <= 1; causal++) {
      if (!((dim[i] SUBSEP causal) in grid_names)) continue
      line = "head_dim " dim[i] (causal ? ", causal" : "")
      for (j = 1; j <= lengths; j++) line = line "\t" grid[dim[i] SUBSEP causal, seq[j]]
      row(line)
    }
  origin()
}
