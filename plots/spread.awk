# Lines of the scores' standard deviation and TFLOP/s: for each head_dim a panel with random scores, and one
# with scores that rise along the keys. Set by the page: dtype.
field("dtype") == dtype && timed() {
  tflops[field("head_dim"), field("rising"), field("step"), field("score_deviation")] = field("tflops")
  step_set[field("step")]
  deviation_set[field("score_deviation")]
  head_dim_set[field("head_dim")]
  panel_set[field("head_dim"), field("rising")]
  if (lowest == "" || field("tflops") < lowest) lowest = field("tflops")
  if (field("tflops") > highest) highest = field("tflops")
  subtitle = "batch " field("batch") ", seq " field("seq_q") ", " dtype
}
END {
  deviations = sort_numbers(deviation_set, deviation)
  if (!deviations) {
    nothing("No step was right and timed" page_text() ".")
    exit
  }
  contenders = sort_names(step_set, step)
  lowest /= 1.25
  highest *= 1.25
  label_gap = 0.055
  words(subtitle "; rising: the deviation grows from 0 to this along the keys, and so does the row max")
  head_dims = sort_numbers(head_dim_set, dim)
  for (i = 1; i <= head_dims; i++)
    for (rising = 0; rising <= 1; rising++) if ((dim[i], rising) in panel_set) add_panel(dim[i], rising)
  print_lines()
  print_length_axes(deviation, deviations, lowest, highest)
}
function add_panel(dim, rising,  i, j, key, points, last_value) {
  for (i = 1; i <= contenders; i++) {
    points = ""
    for (j = 1; j <= deviations; j++) {
      key = dim SUBSEP rising SUBSEP step[i] SUBSEP deviation[j]
      if (!(key in tflops)) continue
      points = points deviation[j] "\t" tflops[key] "\n"
      last_value = tflops[key]
    }
    if (points != "") add_line(readable(step[i]), number_of(step[i]), points, last_value)
  }
  end_panel(", head_dim " dim (rising ? ", rising scores" : ", random scores"), lowest, highest)
}
