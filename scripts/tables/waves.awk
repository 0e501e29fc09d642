# Few tiles, or few waves of tiles, in microseconds: step 17, the fastest step for decode, step 24 and the fastest peer.
# A time below 50 microseconds is that of a replayed graph; where one of them has none, all are those of single launches.
# Arguments: DEVICE HEAD_DIM CAUSAL
# Data: waves.csv (make waves)
field("head_dim") != head_dim || field("causal") != causal || !timed() { next }
{
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = field("heads") "\t" field("seq_q") "\t" field("seq_kv")
  }
  p = place_of[problem()]
  name = field("step")
  kind = name ~ /^17_/ ? "17" : name ~ /^24_/ ? "24" : is_step(name) ? "decode" : "peer"
  names[p, kind] = names[p, kind] " " name
  single[p, name] = 1000 * field("median_ms")
  if (field("graph_ms") == "")
    all_single[p]
  else
    graphed[p, name] = 1000 * field("graph_ms")
}
function time(p, name) { return p in all_single ? single[p, name] : graphed[p, name] }
# The fastest of a kind: its name is left in `found`, and its time is returned, or "" where there is none.
function fastest(p, kind,  list, n, i) {
  n = split(names[p, kind], list, " ")
  found = ""
  for (i = 1; i <= n; i++)
    if (found == "" || time(p, list[i]) < time(p, found)) found = list[i]
  return found == "" ? "" : time(p, found)
}
function cell(value) { return value == "" ? "" : significant(value) }
function ratio(value, own) { return value == "" || own == "" ? "" : share_text(value / own) }
END {
  if (!problems) {
    print "No row of this kind is recorded: `make waves`"
    exit
  }
  header("heads\tqueries\tkeys\tstep 17, µs\tstep 18 or 20, µs\tstep 24, µs\tof the speed of step 17\tfastest peer, µs\tfastest peer\tof its speed", 0)
  for (p = 1; p <= problems; p++) {
    own = fastest(p, "24")
    before = fastest(p, "17")
    branch = fastest(p, "decode")
    peer = fastest(p, "peer")
    row(text[p] "\t" cell(before) "\t" cell(branch) "\t" cell(own) "\t" ratio(before, own) "\t" cell(peer) "\t" \
      (found == "" ? "" : readable(found)) "\t" ratio(peer, own))
  }
  origin()
}
