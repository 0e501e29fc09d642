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
  header(step_24_header(), 0)
  for (p = 1; p <= problems; p++) row(text[p] "\t" step_24_cells(p))
  origin()
}
