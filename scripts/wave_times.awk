# Functions for the tables of few tiles and few waves: the times of each problem, in microseconds. A time below 50
# microseconds is that of a replayed graph; where a contender has none, all times of the problem are those of single
# launches.

# Takes a row of the record in.
function add_wave_time(  p, name, kind) {
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = field("heads") "\t" field("seq_q") "\t" field("seq_kv")
  }
  p = place_of[problem()]
  name = field("step")
  kind = !is_step(name) ? "peer" : name ~ /^(18|20)_/ ? "decode" : substr(name, 1, 2)
  names[p, kind] = names[p, kind] " " name
  single[p, name] = 1000 * field("median_ms")
  if (field("graph_ms") == "")
    all_single[p]
  else
    graphed[p, name] = 1000 * field("graph_ms")
}
function wave_time(p, name) { return p in all_single ? single[p, name] : graphed[p, name] }

# The fastest of a kind: its name is left in `found`, and its time is returned, or "" where there is none.
function fastest(p, kind,  list, n, i) {
  n = split(names[p, kind], list, " ")
  found = ""
  for (i = 1; i <= n; i++)
    if (found == "" || wave_time(p, list[i]) < wave_time(p, found)) found = list[i]
  return found == "" ? "" : wave_time(p, found)
}
function wave_cell(value) { return value == "" ? "" : significant(value) }
function speed_cell(value, own) { return value == "" || own == "" ? "" : share_text(value / own) }
