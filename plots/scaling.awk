# Lines of sequence length and TFLOP/s, a panel without and one with the causal mask.
# Set by the page: head_dim, dtype.
# peers.csv comes last and replaces: what it has of a step was timed beside the peers.
(file == "bench" || file == "peers") && timed() && on_page() { add(field("step")) }
file == "quoted" && on_page() {
  quotes = 1
  add(field("step") "_quoted")
}
file == "ceilings" && field("value") > 0 && (field("name") == "fp32_fma" || field("name") ~ "^tensor_.*_" dtype "$") {
  ceiling_name[++ceilings] = field("name")
  ceiling[ceilings] = field("value")
}
function on_page() { return field("head_dim") == head_dim && field("dtype") == dtype }

function key_of(name) { return field("causal") SUBSEP name SUBSEP field("seq_q") }

# Where one length was measured with two shapes, the larger one counts.
function add(name,  key, size) {
  key = key_of(name)
  size = field("batch") * field("heads")
  if (size < sizes[key] + 0) return
  sizes[key] = size
  tflops[key] = field("tflops")
  step_set[name]
  length_set[field("seq_q")]
  panel_set[field("causal")]
}

END {
  lengths = sort_numbers(length_set, seq)
  if (!lengths) {
    nothing("No step was right and timed" page_text() ".")
    exit
  }
  contenders = sort_names(step_set, step)
  for (key in tflops) {
    if (lowest == "" || tflops[key] < lowest) lowest = tflops[key]
    if (tflops[key] > highest) highest = tflops[key]
  }
  for (i = 1; i <= ceilings; i++) if (ceiling[i] > highest) highest = ceiling[i]
  lowest /= 1.5
  highest *= 1.5
  words("head_dim " head_dim ", " dtype (ceilings ? "; dotted: measured ceilings" (quotes ? ", and what is quoted" : "") : ""))
  for (causal = 0; causal <= 1; causal++) if (causal in panel_set) add_panel()
  print_lines()
  print_length_axes(seq, lengths, lowest, highest)
}

function add_panel(  i, j, key, points, last_value) {
  for (i = 1; i <= contenders; i++) {
    points = ""
    for (j = 1; j <= lengths; j++) {
      key = causal SUBSEP step[i] SUBSEP seq[j]
      if (!(key in tflops)) continue
      points = points seq[j] "\t" tflops[key] "\n"
      last_value = tflops[key]
    }
    if (points != "") add_line(readable(step[i]), number_of(step[i]), points, last_value)
  }
  for (i = 1; i <= ceilings; i++) {
    points = sprintf("%g\t%g\n%g\t%g\n", seq[1] / 1.15, ceiling[i], seq[lengths] * 1.15, ceiling[i])
    add_line(ceiling_text(ceiling_name[i]) " " three_digits(ceiling[i]), 0, points, ceiling[i])
  }
  end_panel(causal ? ", causal" : ", not causal", lowest, highest)
}
