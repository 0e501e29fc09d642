# Shapes that users have and the grid lacks: the fastest step beside the fastest peer, timed in one run.
# Arguments: DEVICE
# Data: shapes.csv (make shapes)
timed() {
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = problem_text()
  }
  p = place_of[problem()]
  kind = is_step(field("step")) ? "step" : "peer"
  if ((kind, p) in fastest && field("median_ms") >= fastest[kind, p] + 0) next
  fastest[kind, p] = field("median_ms")
  cells[kind, p] = readable(field("step")) "\t" time_cell() "\t" significant(field("tflops"))
  if (kind == "step") {
    share[p] = field("share_best")
    share_cells[p] = ratio_cell("share_best")
    low[p] = field("share_best_low")
    high[p] = field("share_best_high")
  }
}
# Judges by the interval of the share. If the interval contains 1, there is no difference.
function verdict(p) {
  if (share[p] == "") return ""
  if (low[p] == "") return share[p] < 1 ? "behind" : "ahead"
  return high[p] < 1 ? "behind" : low[p] > 1 ? "ahead" : "level"
}
function cells_of(kind, p) { return (kind, p) in cells ? cells[kind, p] : "\t\t" }
END {
  if (!problems) {
    print "No row is recorded: `make shapes` records them."
    exit
  }
  header("shape\tfastest step\tms [95 %]\tTFLOP/s\tfastest peer\tms [95 %]\tTFLOP/s\tof the peer's speed\tthe lab is", 1)
  for (p = 1; p <= problems; p++) row(text[p] "\t" cells_of("step", p) "\t" cells_of("peer", p) "\t" share_cells[p] "\t" verdict(p))
  origin()
}
