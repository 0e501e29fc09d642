# Bars from 1 to the speed-up: to the right of 1 a step is faster than the base, to the left slower. The base is the
# first row, or what the reader chose. Of the peers, timed at the ladder's shape: SDPA's flash backend and the fastest.
file !~ /^peers/ && timed() && (wanted(field("step")) || !own && is_same(base_chosen, field("step"))) {
  if (shape != "" && problem() != shape) next # one shape a chart
  if (shape == "") {
    shape = problem()
    subtitle = problem_text()
    if (base_chosen == "") set_base()
  }
  if (base_chosen != "" && !own && is_same(base_chosen, field("step"))) set_base()
  if (wanted(field("step"))) add(drawn_name() (field("configuration") == "" ? "" : " " field("configuration")))
}
file ~ /^peers/ && timed() && !is_step(field("step")) && problem() == shape && !own {
  if (field("step") == base_chosen) set_base()
  if (field("step") == "sdpa_flash") keep("flash")
  if (!("best" in peer_median) || field("median_ms") < peer_median["best"] + 0) keep("best")
}
function set_base() {
  base = field("step")
  base_ms = field("median_ms")
}
function add(row_name) {
  name[++count] = row_name
  median[count] = field("median_ms")
  tflops[count] = field("tflops")
  held[count] = throttled()
  paired[count] = own ? "" : field("base_step")
  ratio[count] = field("speedup")
  low[count] = field("speedup_low")
  high[count] = field("speedup_high")
}
function keep(which) {
  peer_name[which] = field("step")
  peer_median[which] = field("median_ms")
  peer_tflops[which] = field("tflops")
  peer_held[which] = throttled()
}
function add_peer(which) {
  name[++count] = peer_name[which]
  median[count] = peer_median[which]
  tflops[count] = peer_tflops[which]
  held[count] = peer_held[which]
}
END {
  if (!count || base == "") {
    nothing(count ? "The base " base_chosen " has no time at the ladder's shape." : \
      "No step was right and timed in this ladder.")
    exit
  }
  if ("flash" in peer_name && peer_name["best"] != "sdpa_flash") add_peer("flash")
  if ("best" in peer_name) add_peer("best")
  title = "Speed-up over " base_text(base)
  lowest = highest = 1
  for (i = 1; i <= count; i++) {
    known = paired[i] == base && low[i] > 0 && name[i] != base
    times = known && ratio[i] > 0 ? ratio[i] : base_ms / median[i]
    if (held[i]) any_throttled = 1
    if (times < lowest) lowest = times
    if (times > highest) highest = times
    add_row(readable(name[i]), number_of(name[i]), 1, times, known ? low[i] : "", known ? high[i] : "",
      three_digits(times) "×" (held[i] ? "*" : "") "   " three_digits(tflops[i]) " TFLOP/s")
  }
  words(subtitle, "Right of 1: a speed-up; left of 1: a slowdown." (is_linear() ? "" : " The axis is logarithmic."))
  if (is_linear()) end_panel("times as fast", 0, 1.35 * highest, 0)
  else end_panel("times as fast", lowest / 1.3, highest * (2 * (highest / lowest) ^ 0.3), 10)
  print_rows(1)
}
