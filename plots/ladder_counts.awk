# Bars from an emulated ladder: workspace, blocks and barriers of the steps that were right.
field("check") == "ok" && field("blocks") != "" {
  if (shape == "") {
    shape = problem()
    subtitle = problem_text()
  }
  if (problem() != shape) next # one shape a chart
  step_set[field("step")]
  bar[field("step"), 1] = field("workspace_bytes")
  bar[field("step"), 2] = field("blocks")
  bar[field("step"), 3] = field("block_barriers")
}
END {
  if (shape == "") {
    nothing("No step was right in this ladder.")
    exit
  }
  words(subtitle, "Counts, not times: a time on a CPU would say nothing about a GPU. The axes are logarithmic.")
  add_counts(step_set, "workspace, bytes|blocks launched|block barriers passed")
  print_rows(3)
}
