# The tables `waves` for a choice of problems, in one table. 1:4096:64:0,16:128:64:1 are the problems of one head with 4096
# queries and head_dim 64 without a mask, and of 16 heads with 128 queries and head_dim 64 with a causal mask.
# Arguments: DEVICE CHOICE
# Data: waves.csv (make waves)
# Awk: scripts/wave_times
BEGIN {
  for (i = split(choice, list, ","); i > 0; i--) is_wanted[list[i]]
}
!timed() || !((field("heads") ":" field("seq_q") ":" field("head_dim") ":" field("causal")) in is_wanted) { next }
{ add_wave_problem() }
END {
  if (!problems) {
    print "No row of this kind is recorded: `make waves`"
    exit
  }
  header("head_dim\tmask\t" step_24_header(), 0)
  for (p = 1; p <= problems; p++) row(text[p] "\t" step_24_cells(p))
  origin()
}
