# Few tiles, or few waves of tiles, in microseconds: step 26 beside step 24 and the fastest peer, by the same rules as
# in the table `waves`.
# Arguments: DEVICE
# Data: waves.csv (make waves)
# Awk: scripts/wave_times
!timed() { next }
{ add_wave_problem() }
END {
  for (p = 1; p <= problems; p++) recorded += fastest(p, "26") != ""
  if (!recorded) {
    print "No row of this kind is recorded: `make waves`"
    exit
  }
  header("head_dim\tmask\theads\tqueries\tkeys\tstep 24, µs\tstep 26, µs\tof the speed of step 24\tfastest peer, µs\tfastest peer\tof its speed", 0)
  for (p = 1; p <= problems; p++) {
    own = fastest(p, "26")
    before = fastest(p, "24")
    peer = fastest(p, "peer")
    row(text[p] "\t" wave_cell(before) "\t" wave_cell(own) "\t" speed_cell(before, own) "\t" wave_cell(peer) "\t" \
      (found == "" ? "" : readable(found)) "\t" speed_cell(peer, own))
  }
  origin()
}
