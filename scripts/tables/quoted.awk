# TFLOP/s that this lab has not recorded: the file's comment says where they are from.
# Arguments: DEVICE STEP
# Data: quoted.csv
field("step") == step {
  text = "head_dim " field("head_dim") ", " field("dtype") (field("causal") == 1 ? ", causal" : "")
  if (!(text in seen)) line[++lines] = text
  seen[text]
  tflops[text, field("seq_q")] = field("tflops")
  length_set[field("seq_q")]
  if (field("causal") == 1) causal_rows++
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
  if (causal_rows) {
    printf "\nCausal figures count the pairs that the mask leaves, seq (seq + 1) / 2. Counted as seq² / 2, as the authors of\n"
    printf "FlashAttention do in theirs, they are lower by 1 / (seq + 1): by %.2g %% at seq %d.\n", 100 / (seq[1] + 1), seq[1]
  }
  origin()
}
