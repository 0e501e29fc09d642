# Bars: TFLOP/s with the interval's ends, fastest first. Those not timed come last.
field("configuration") != "" {
  if (title_step == "") {
    title_step = readable(field("step"))
    subtitle = "step " title_step "; " problem_text()
  }
  style = number_of(field("step"))
  configuration[++count] = field("configuration")
  speed[count] = -count # after all that were timed, in their order
  if (timed()) {
    timed_count++
    speed[count] = field("tflops")
    low[count] = speed_at("ci_high_ms")
    high[count] = speed_at("ci_low_ms")
    text[count] = three_digits(field("tflops")) " TFLOP/s, " sprintf("%.4g", field("median_ms")) " ms" \
      (throttled() ? "*" : "")
    if (throttled()) any_throttled = 1
    if (field("tflops") > highest) {
      highest = field("tflops")
      fastest = count
    }
  } else if (field("check") == "skipped") text[count] = "skipped: it does not take this shape, or does not fit"
  else text[count] = field("check")
}
function has_stages(name) { return name ~ /x.*x.*x/ }
function in_words(name,  part) {
  if (split(name, part, /[x:]/) < 3) return ""
  return name ": " part[1] " queries and " part[2] " keys a tile, " part[3] " warps a block" \
    (has_stages(name) ? ", room for " part[4] " key block" (part[4] == 1 ? "" : "s") : "") "."
}
END {
  if (!timed_count) {
    nothing("No configuration was right and timed in this sweep.")
    exit
  }
  # The fastest one is explained. Those of steps without a ring of key blocks have no STAGES.
  words(subtitle, in_words(configuration[fastest]))
  for (i = 1; i <= count; i++) {
    best = 0
    for (j = 1; j <= count; j++) if (j in speed && (!best || speed[j] > speed[best])) best = j
    if (speed[best] > 0) add_row(configuration[best], style, 0, speed[best], low[best], high[best], text[best])
    else add_row(configuration[best], style, 0, 0, "", "", text[best])
    delete speed[best]
  }
  end_panel("BLOCK_M x BLOCK_N x WARPS" (has_stages(configuration[fastest]) ? " x STAGES" : "") ", by TFLOP/s", 0, 1.45 * highest, 0)
  print_rows(1)
}
