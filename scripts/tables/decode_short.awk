# The table `decode` for one number of heads and a choice of problems, with the times of a step and of the step before it.
# 1:1,16:4 are the problems of batch 1 with one query, and of batch 16 with four.
# Arguments: DEVICE HEADS KV_HEADS BEFORE STEP CHOICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
BEGIN {
  subject = step
  for (i = split(choice, list, ","); i > 0; i--) is_wanted[list[i]]
}
timed() && field("heads") == heads && field("kv_heads") == kv_heads && (field("batch") ":" field("seq_q")) in is_wanted {
  text[add_time()] = field("batch") "\t" field("seq_kv") "\t" field("seq_q")
}
END {
  for (p = 1; p <= problems; p++) recorded += (p, step) in single
  if (!recorded) {
    print "No row of this kind is recorded: `make decode` records them."
    exit
  }
  header("batch\tkeys\tqueries\tstep " before ", µs\tstep " step ", µs\tof the speed of step " before "\tfastest peer, µs\tfastest peer\tof its speed\tonly reading, µs\tof reading's speed", 0)
  for (p = 1; p <= problems; p++) {
    choose_times(p)
    row(text[p] "\t" chosen_time(p, before) "\t" chosen_time(p, step) "\t" share_text(ratio_to(p, before)) "\t" \
      chosen_time(p, best) "\t" readable(best) "\t" share_text(ratio_to(p, best)) "\t" chosen_time(p, "only_reading") "\t" \
      share_text(ratio_to(p, "only_reading")))
  }
  origin()
}
