# Few tiles, or few waves of tiles, in microseconds: step 26 beside step 24, in single launches and in replayed graphs, for
# a choice of problems. It is written as in the table `waves_short`.
# Arguments: DEVICE CHOICE
# Data: waves.csv (make waves)
# Awk: scripts/wave_times
BEGIN {
  for (i = split(choice, list, ","); i > 0; i--) is_wanted[list[i]]
}
!timed() || !((field("heads") ":" field("seq_q") ":" field("head_dim") ":" field("causal")) in is_wanted) { next }
{ add_wave_problem() }

# Returns the times of steps 24 and 26 of a problem, and the speed of step 26. `times` holds those of one kind of launch.
function cells_of(times, p,  before, own) {
  before = times[p, substr(names[p, "24"], 2)]
  own = times[p, substr(names[p, "26"], 2)]
  return wave_cell(before) "\t" wave_cell(own) "\t" speed_cell(before, own)
}
END {
  if (!problems) {
    print "No row of this kind is recorded: `make waves`"
    exit
  }
  header("head_dim\tmask\theads\tqueries\tkeys\tsingle launch: step 24, µs\tstep 26, µs\tof the speed of step 24\treplayed graph: step 24, µs\tstep 26, µs\tof the speed of step 24", 0)
  for (p = 1; p <= problems; p++) row(text[p] "\t" cells_of(single, p) "\t" cells_of(graphed, p))
  origin()
}
