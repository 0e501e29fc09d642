# Bars: place, speed-up, label, name, whether it is a peer. Of the peers, timed at the ladder's shape:
# SDPA's flash backend and the fastest.
file !~ /^peers/ && timed() {
  if (count && problem() != shape) next # one shape a chart
  shape = problem()
  subtitle = problem_text()
  base = count ? base : field("median_ms")
  add_bar(field("step") (field("configuration") == "" ? "" : " " field("configuration")),
    field("median_ms"), field("tflops"))
}
file ~ /^peers/ && timed() && !is_step(field("step")) && problem() == shape {
  if (field("step") == "sdpa_flash") flash = field("median_ms") SUBSEP field("tflops")
  if (best == "" || field("median_ms") < best + 0) {
    best = field("median_ms") SUBSEP field("tflops")
    best_name = field("step")
  }
}
function add_bar(step, milliseconds, teraflops) {
  name[++count] = step
  speed_up[count] = base / milliseconds
  tflops[count] = teraflops
}
function add_peer(step, measured,  part) {
  split(measured, part, SUBSEP)
  add_bar(step, part[1], part[2])
}
END {
  if (!count) {
    nothing("No step was right and timed in this ladder.")
    exit
  }
  steps = count
  if (flash != "" && best_name != "sdpa_flash") add_peer("sdpa_flash", flash)
  if (best != "") add_peer(best_name, best)
  words(subtitle (count > 8 ? "; numbers: times step 01, TFLOP/s" : "") \
    (steps < count ? "; grey: peers" : ""))
  print "bars = " count
  lowest = highest = 1
  print "$bars << END"
  for (i = 1; i <= count; i++) {
    lowest = speed_up[i] < lowest ? speed_up[i] : lowest
    highest = speed_up[i] > highest ? speed_up[i] : highest
    lines = readable(name[i])
    sub(/^FlashA/, "Flash A", lines)
    gsub(/ /, "\\n", lines)
    printf "%d\t%g\t%s×\\n%s%s\t%s\t%d\n", i - 1, speed_up[i], three_digits(speed_up[i]), three_digits(tflops[i]),
      (count > 8 ? "" : " TFLOP/s"), lines, (i > steps)
  }
  print "END"
  printf "lowest = %g\nhighest = %g\n", lowest, highest
}
