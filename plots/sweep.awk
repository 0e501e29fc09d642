# Bars: rank, TFLOP/s and the interval's ends, configuration, label. Those not timed come last.
field("configuration") != "" {
  if (title_step == "") {
    title_step = readable(field("step"))
    subtitle = "step " title_step "; " problem_text()
  }
  if (timed()) {
    row[++count] = sprintf("%g\t%g\t%g\t%s\t%s TFLOP/s, %.4g ms", field("tflops"), at(field("ci_high_ms")),
      at(field("ci_low_ms")), unmarked(field("configuration")), three_digits(field("tflops")), field("median_ms"))
    speed[count] = field("tflops")
    if (field("tflops") > highest) highest = field("tflops")
  } else {
    late[++late_count] = "0\t0\t0\t" unmarked(field("configuration")) "\t" \
      (field("check") == "skipped" ? "skipped: it does not take this shape, or does not fit" : unmarked(field("check")))
  }
}
# The speed at another time.
function at(milliseconds) {
  return milliseconds > 0 ? field("tflops") * field("median_ms") / milliseconds : field("tflops")
}
END {
  if (!count) {
    nothing("No configuration was right and timed in this sweep.")
    exit
  }
  words(subtitle)
  print "$bars << END"
  for (i = 1; i <= count; i++) {
    best = 0
    for (j = 1; j <= count; j++) if (j in speed && (!best || speed[j] > speed[best])) best = j
    print i "\t" row[best]
    delete speed[best]
  }
  for (i = 1; i <= late_count; i++) print count + i "\t" late[i]
  print "END\nrows = " count + late_count "\nhighest = " highest
}
