# TFLOP/s that this lab has not recorded: the file's comment says where they are from.
# Arguments: DEVICE STEP
# Data: quoted.csv
field("step") == step {
  text = "head_dim " field("head_dim") ", " field("dtype") (field("causal") == 1 ? ", causal" : "")
  if (!(text in seen)) line[++lines] = text
  seen[text]
  tflops[text, field("seq_q")] = field("tflops")
  length_set[field("seq_q")]
}
END {
  lengths = sort_numbers(length_set, seq)
  cells = "TFLOP/s; seq"
  for (j = 1; j <= lengths; j++) cells = cells "\t" seq[j]
  header(cells, 1)
  for (i = 1; i <= lines; i++) {
    cells = line[i]
    for (j = 1; j <= lengths; j++) cells = cells "\t" significant(tflops[line[i], seq[j]])
    row(cells)
  }
  origin()
}
