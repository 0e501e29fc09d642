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
# Does the same for a table of all head dimensions, with and without a mask.
function add_wave_problem() {
  add_wave_time()
  if (!seen[problem()]++)
    text[place_of[problem()]] = field("head_dim") "\t" (field("causal") ? "yes" : "no") "\t" text[place_of[problem()]]
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

# The table of step 24: its header, and the cells of a problem behind those that name it.
function step_24_header() {
  return "heads\tqueries\tkeys\tstep 17, µs\tstep 18 or 20, µs\tstep 24, µs\tof the speed of step 17\tfastest peer, µs\tfastest peer\tof its speed"
}
function step_24_cells(p,  own, before, branch, peer) {
  own = fastest(p, "24")
  before = fastest(p, "17")
  branch = fastest(p, "decode")
  peer = fastest(p, "peer")
  return wave_cell(before) "\t" wave_cell(branch) "\t" wave_cell(own) "\t" speed_cell(before, own) "\t" \
    wave_cell(peer) "\t" (found == "" ? "" : readable(found)) "\t" speed_cell(peer, own)
}
