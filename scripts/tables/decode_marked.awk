# Step 25 beside step 20, the fastest peer and a kernel that only reads K and V, in microseconds, for one number of heads
# and a choice of problems: 1:1,16:4 are those of batch 1 with one query, and of batch 16 with four.
# Arguments: DEVICE HEADS KV_HEADS CHOICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
BEGIN {
  subject = "25"
  for (i = split(choice, list, ","); i > 0; i--) is_wanted[list[i]]
}
timed() && field("heads") == heads && field("kv_heads") == kv_heads && (field("batch") ":" field("seq_q")) in is_wanted {
  text[add_time()] = field("batch") "\t" field("seq_kv") "\t" field("seq_q")
}
END {
  for (p = 1; p <= problems; p++) recorded += (p, subject) in single
  if (!recorded) {
    print "No row of this kind is recorded: `make decode` records them."
    exit
  }
  header("batch\tkeys\tqueries\tstep 20, µs\tstep 25, µs\tof the speed of step 20\tfastest peer, µs\tfastest peer\tof its speed\tonly reading, µs\tof reading's speed", 0)
  for (p = 1; p <= problems; p++) {
    choose_times(p)
    row(text[p] "\t" chosen_time(p, "20") "\t" chosen_time(p, "25") "\t" share_text(ratio_to(p, "20")) "\t" \
      chosen_time(p, best) "\t" readable(best) "\t" share_text(ratio_to(p, best)) "\t" chosen_time(p, "only_reading") "\t" \
      share_text(ratio_to(p, "only_reading")))
  }
  origin()
}
