# Lines of sequence length and TFLOP/s: a row of panels without and one with the causal mask. Left: all, right: the
# faster half of the contenders, on a linear axis. Set by the page: head_dim, dtype.
# peers.csv comes last and replaces: what it has of a step was timed beside the peers.
file != "quoted" && file != "ceilings" && timed() && on_page() && wanted(field("step")) {
  put(field("causal"), drawn_name(), field("seq_q"), field("tflops"), speed_at("ci_high_ms"), speed_at("ci_low_ms"))
}
file == "quoted" && on_page() {
  quotes = 1
  put(field("causal"), field("step") "_quoted", field("seq_q"), field("tflops"))
}
file == "ceilings" && field("value") > 0 && (field("name") == "fp32_fma" || field("name") ~ "^tensor_.*_" dtype "$") {
  ceiling_name[++ceilings] = field("name")
  ceiling[ceilings] = field("value")
}
function on_page() { return field("head_dim") == head_dim && field("dtype") == dtype }

END {
  lengths = sort_numbers(x_set, seq)
  if (!lengths) {
    nothing("No step was right and timed" page_text() ".")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  for (i = 1; i <= ceilings; i++) if (ceiling[i] > highest_put) highest_put = ceiling[i]
  words("head_dim " head_dim ", " dtype "; " batch_text(seq, lengths),
    "Higher is faster" (ceilings ? "; dotted: measured ceilings" (quotes ? ", and what is quoted" : "") : "") \
    ". Right: the faster half" (axis_chosen == "" ? ", on a linear axis." : "."))
  for (causal = 0; causal <= 1; causal++) if (causal in panel_set) {
    add_panel(step, contenders, 0)
    add_panel(fast, faster_half(), 1)
  }
  print_lines(seq, lengths)
}

# Puts into fast[] those contenders of the panel whose best speed is at least the median, and sets least_fast to the
# lowest of these.
function faster_half(  i, j, key, best, slower, kept, many) {
  for (i = 1; i <= contenders; i++)
    for (j = 1; j <= lengths; j++) {
      key = causal SUBSEP step[i] SUBSEP seq[j]
      if (key in put_value && put_value[key] > best[i] + 0) best[i] = put_value[key]
    }
  for (i in best) many++
  least_fast = ""
  for (i = 1; i <= contenders; i++) {
    if (!(i in best)) continue
    slower = 0
    for (j in best) slower += best[j] < best[i]
    if (2 * slower < many - 1) continue
    fast[++kept] = step[i]
    if (least_fast == "" || best[i] < least_fast) least_fast = best[i]
  }
  return kept
}

function add_panel(names, count, half,  i, linear) {
  linear = is_linear() || half && axis_chosen == ""
  add_lines(causal, names, count, seq, lengths)
  for (i = 1; i <= ceilings; i++) if (!half || ceiling[i] >= least_fast)
    add_line(ceiling_text(ceiling_name[i]) " " three_digits(ceiling[i]), 0,
      point(seq[1] / 1.15, ceiling[i]) point(seq[lengths] * 1.15, ceiling[i]))
  end_panel((causal ? ", causal" : ", not causal") (half ? ": the faster half" : ""), lowest_put / 1.5,
    highest_put * (linear ? 1.05 : 1.5), linear)
}
