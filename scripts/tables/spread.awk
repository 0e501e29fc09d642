# What one step reaches when its scores are spread more and more, and against the step before it.
# Arguments: DEVICE NN
# Data: spread.csv (make spread)
is_step(field("step")) && field("step") + 0 <= nn + 0 {
  key = field("head_dim") SUBSEP field("dtype") SUBSEP field("rising")
  if (!(key in line_of)) {
    line_of[key] = ++lines
    text[lines] = "head_dim " field("head_dim") ", " field("dtype") (field("rising") == 1 ? ", rising" : "")
  }
  cell = line_of[key] SUBSEP field("score_deviation")
  number = field("step") + 0
  if (number == nn + 0) {
    speed[cell] = timed() ? significant(field("tflops")) : field("check")
    milliseconds[cell] = timed() ? field("median_ms") : 0
    paired[cell] = timed() ? field("speedup_before") : ""
    deviation_set[field("score_deviation")]
  } else if (timed() && number > before[cell] + 0) {
    before[cell] = number
    milliseconds_before[cell] = field("median_ms")
  }
}
END {
  deviations = sort_numbers(deviation_set, deviation)
  if (!deviations) {
    print "No recorded spread holds step " nn " yet: `make spread` records it."
    exit
  }
  line = "TFLOP/s (× the step before); deviation"
  for (j = 1; j <= deviations; j++) line = line "\t" deviation[j]
  header(line, 1)
  for (i = 1; i <= lines; i++) {
    line = text[i]
    for (j = 1; j <= deviations; j++) {
      cell = i SUBSEP deviation[j]
      line = line "\t" speed[cell]
      if (milliseconds[cell] && milliseconds_before[cell])
        line = line " (" share_text(paired[cell] != "" ? paired[cell] : milliseconds_before[cell] / milliseconds[cell]) ")"
    }
    row(line)
  }
  origin()
}
