# One query or a few against many keys: the times of the last steps, of the fastest peer, and of a kernel that only reads
# K and V, in microseconds, and step 20's shares of the speed of the last two. A time below 50 microseconds is that of a
# replayed graph; but where step 20 or the fastest peer has none, all times of the problem are those of single launches,
# because a launch takes some microseconds longer than its share of a graph.
# Arguments: DEVICE
# Data: decode.csv (make decode)
timed() {
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = field("heads") "\t" field("kv_heads") "\t" field("batch") "\t" field("seq_kv") "\t" field("seq_q")
  }
  p = place_of[problem()]
  name = field("step")
  if (is_step(name)) {
    if (name !~ /^(09|18|19|20)_/) next
    name = substr(name, 1, 2)
  } else if (name != "only_reading")
    peers[p] = peers[p] " " name
  single[p, name] = 1000 * field("median_ms")
  if (field("graph_ms") != "") graphed[p, name] = 1000 * field("graph_ms")
}

# The fastest peer of a problem by single launches, or with `graph` by replayed graphs where there are any.
function fastest_peer(p, graph,  names, i, n, best) {
  n = split(peers[p], names, " ")
  for (i = 1; i <= n; i++)
    if (best == "" || time(p, names[i], graph) < time(p, best, graph)) best = names[i]
  return best
}
function time(p, name, graph) { return graph && (p, name) in graphed ? graphed[p, name] : single[p, name] }
function cell(p, number, graph) { return (p, number) in single ? significant(time(p, number, graph)) : "" }
END {
  if (!problems) {
    print "No row is recorded: `make decode` records them."
    exit
  }
  header("heads\tkv heads\tbatch\tkeys\tqueries\tstep 09, µs\tstep 18, µs\tstep 19, µs\tstep 20, µs\tfastest peer, µs\tfastest peer\tstep 20 of its speed\tonly reading, µs\tstep 20 of reading's speed", 0)
  for (p = 1; p <= problems; p++) {
    best = fastest_peer(p, 1)
    graph = !((p, "20") in single && !((p, "20") in graphed) || best != "" && !((p, best) in graphed))
    best = fastest_peer(p, graph)
    own = (p, "20") in single ? time(p, "20", graph) : 0
    row(text[p] "\t" cell(p, "09", graph) "\t" cell(p, "18", graph) "\t" cell(p, "19", graph) "\t" \
      cell(p, "20", graph) "\t" \
      (best != "" ? cell(p, best, graph) "\t" readable(best) : "\t") "\t" \
      (best != "" && own ? share_text(time(p, best, graph) / own) : "") "\t" \
      cell(p, "only_reading", graph) "\t" \
      ((p, "only_reading") in single && own ? share_text(time(p, "only_reading", graph) / own) : ""))
  }
  origin()
}
