# Functions for the tables of decode, one query or a few against many keys: which times of a problem are compared. A time
# below 50 microseconds is that of a replayed graph; but where the table's step or the fastest peer has none, all times of
# the problem are those of single launches, because a launch takes some microseconds longer than its share of a graph.
BEGIN { subject = "20" } # the table's step; a table may name another one

# Takes a row of the record in, and returns the place of its problem.
function add_time(  p, name) {
  if (!(problem() in place_of)) place_of[problem()] = ++problems
  p = place_of[problem()]
  name = field("step")
  if (is_step(name)) {
    if (name !~ /^(09|18|19|20|25)_/) return p
    name = substr(name, 1, 2)
  } else if (name != "only_reading")
    peers[p] = peers[p] " " name
  single[p, name] = 1000 * field("median_ms")
  if (field("graph_ms") != "") graphed[p, name] = 1000 * field("graph_ms")
  return p
}

# The fastest peer of a problem by single launches, or with `graph` by replayed graphs where there are any.
function fastest_peer(p, graph,  names, i, n, best) {
  n = split(peers[p], names, " ")
  for (i = 1; i <= n; i++)
    if (best == "" || time(p, names[i], graph) < time(p, best, graph)) best = names[i]
  return best
}
function time(p, name, graph) { return graph && (p, name) in graphed ? graphed[p, name] : single[p, name] }

# Chooses the times of a problem, in microseconds: in_graph says of which kind they are, best which peer is the fastest,
# and own is the time of the table's step, or 0 where it has none.
function choose_times(p) {
  best = fastest_peer(p, 1)
  in_graph = !((p, subject) in single && !((p, subject) in graphed) || best != "" && !((p, best) in graphed))
  best = fastest_peer(p, in_graph)
  own = (p, subject) in single ? time(p, subject, in_graph) : 0
}

# Of the problem whose times were chosen: a contender's time, and how many times as fast the table's step is.
function chosen_time(p, name) { return name != "" && (p, name) in single ? significant(time(p, name, in_graph)) : "" }
function ratio_to(p, name) { return name != "" && (p, name) in single && own ? time(p, name, in_graph) / own : "" }
