# Lines of the scores' standard deviation and TFLOP/s: for each head_dim a panel with random scores, and one
# with scores that rise along the keys. Set by the page: dtype.
field("dtype") == dtype && timed() && wanted(field("step")) {
  put(field("head_dim") SUBSEP field("rising"), drawn_name(), field("score_deviation"), field("tflops"),
    speed_at("ci_high_ms"), speed_at("ci_low_ms"))
  head_dim_set[field("head_dim")]
  heads_set[field("heads")]
  subtitle = "batch " field("batch") ", seq " field("seq_q") ", " dtype
}
END {
  deviations = sort_numbers(x_set, deviation)
  if (!deviations) {
    nothing("No step was right and timed" page_text() ".")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  for (i = sort_numbers(heads_set, many); i > 0; i--) heads = heads (heads == "" ? "" : " or ") many[i]
  words(subtitle ", heads " heads,
    "Rising: the deviation grows along the keys from 0 to the one below the axis, and so does the row max.")
  head_dims = sort_numbers(head_dim_set, dim)
  linear = axis_chosen != "logarithmic"
  for (i = 1; i <= head_dims; i++)
    for (rising = 0; rising <= 1; rising++) if ((dim[i], rising) in panel_set) {
      add_lines(dim[i] SUBSEP rising, step, contenders, deviation, deviations)
      end_panel(", head_dim " dim[i] (rising ? ", rising scores" : ", random scores"), lowest_put / 1.25,
        highest_put * (linear ? 1.05 : 1.25), linear)
    }
  print_lines(deviation, deviations)
}
