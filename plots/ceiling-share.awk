# Lines of sequence length and the share of a measured ceiling, in percent: a panel without and one with the causal
# mask. Set by the page: head_dim, dtype. A step is compared with the multipliers that it uses, a peer with the fastest.
file == "ceilings" && field("value") > 0 { ceiling[field("name")] = field("value") }
file != "ceilings" && field("head_dim") == head_dim && field("dtype") == dtype && timed() && wanted(field("step")) {
  put(field("causal"), drawn_name(), field("seq_q"), field("tflops"), speed_at("ci_high_ms"), speed_at("ci_low_ms"))
}
# Steps 01 to 04 multiply in float32, 05 to 10 and those for decode with wmma and mma.sync, 11 to 17 with Hopper's wgmma,
# which the fastest peers use as well.
function ceiling_of(name,  number) {
  number = is_step(name) ? name + 0 : 99
  if (number <= 4) return "fp32_fma"
  return (number <= 10 || number >= 18 && number <= 20 || number == 25 ? "tensor_mma_" : "tensor_wgmma_") dtype
}
END {
  lengths = sort_numbers(x_set, seq)
  contenders = sort_names(name_set, step)
  for (i = 1; i <= contenders; i++) {
    used = ceiling_of(step[i])
    if (!(used in ceiling)) {
      for (key in put_value) if (index(key, SUBSEP step[i] SUBSEP)) delete put_value[key]
      continue
    }
    if (!index(list, " " used " ")) {
      list = list " " used " "
      text = text (text == "" ? "" : ", ") ceiling_text(used) " " three_digits(ceiling[used])
    }
    for (key in put_value) if (index(key, SUBSEP step[i] SUBSEP)) {
      put_value[key] *= 100 / ceiling[used]
      if (put_low[key] != "") put_low[key] *= 100 / ceiling[used]
      if (put_high[key] != "") put_high[key] *= 100 / ceiling[used]
    }
  }
  find_range()
  if (highest_put == "") {
    nothing("No step was right and timed" page_text() " whose ceiling is in ceilings.csv.")
    exit
  }
  words("head_dim " head_dim ", " dtype "; " batch_text(seq, lengths) "; ceilings in TFLOP/s: " text,
    "Steps 01 to 04 against fp32 fma, 05 to 10, 18 to 20 and 25 against mma, all others against wgmma.")
  linear = axis_chosen != "logarithmic"
  for (causal = 0; causal <= 1; causal++) if (causal in panel_set) {
    add_lines(causal, step, contenders, seq, lengths)
    end_panel(causal ? ", causal" : ", not causal", lowest_put / 1.3, linear ? 105 : 150, linear)
  }
  print_lines(seq, lengths)
}
