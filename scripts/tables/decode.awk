# One query or a few against many keys: the times of the last steps and of the fastest peer, in microseconds, and the
# share of the time that only reading K and V would take. A time below 50 microseconds is that of a replayed graph.
# Arguments: DEVICE
# Data: decode.csv (make decode)
# With: ceilings.csv (make ceilings)
file == "ceilings" {
  if (field("name") == "read_bandwidth") read_bandwidth = field("value") # GB/s
  next
}
timed() {
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = field("heads") "\t" field("kv_heads") "\t" field("batch") "\t" field("seq_kv") "\t" field("seq_q")
    bytes[problems] = 4 * field("batch") * field("kv_heads") * field("seq_kv") * field("head_dim") # of K and V
  }
  p = place_of[problem()]
  time = 1000 * (field("graph_ms") != "" ? field("graph_ms") : field("median_ms"))
  if (!is_step(field("step"))) {
    if ((p in peer) && peer[p] <= time) next
    peer[p] = time
    peer_name[p] = readable(field("step"))
  } else {
    if (field("step") ~ /^(09|18|19|20)_/) step[p, substr(field("step"), 1, 2)] = time
  }
}
function cell(p, number) { return (p, number) in step ? significant(step[p, number]) : "" }
END {
  if (!problems) {
    print "No row is recorded: `make decode` records them."
    exit
  }
  header("heads\tkv heads\tbatch\tkeys\tqueries\tstep 09, µs\tstep 18, µs\tstep 19, µs\tstep 20, µs\tfastest peer, µs\tfastest peer\tstep 20 of its speed\tof the read bandwidth", 0)
  for (p = 1; p <= problems; p++)
    row(text[p] "\t" cell(p, "09") "\t" cell(p, "18") "\t" cell(p, "19") "\t" cell(p, "20") "\t" \
      (p in peer ? significant(peer[p]) "\t" peer_name[p] : "\t") "\t" \
      (p in peer && step[p, "20"] ? share_text(peer[p] / step[p, "20"]) : "") "\t" \
      (read_bandwidth && step[p, "20"] ? share_text(bytes[p] / (1000 * step[p, "20"]) / read_bandwidth) : ""))
  origin()
}
