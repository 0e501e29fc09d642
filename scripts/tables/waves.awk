# Few tiles, or few waves of tiles, in microseconds: step 17, the fastest step for decode, step 24 and the fastest peer.
# A time below 50 microseconds is that of a replayed graph; where one of them has none, all are those of single launches.
# Arguments: DEVICE HEAD_DIM CAUSAL
# Data: waves.csv (make waves)
# Awk: scripts/wave_times
field("head_dim") != head_dim || field("causal") != causal || !timed() { next }
{ add_wave_time() }
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
    row(text[p] "\t" wave_cell(before) "\t" wave_cell(branch) "\t" wave_cell(own) "\t" speed_cell(before, own) "\t" \
      wave_cell(peer) "\t" (found == "" ? "" : readable(found)) "\t" speed_cell(peer, own))
  }
  origin()
}
