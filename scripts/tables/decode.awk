# One query or a few against many keys, all problems: the times of the last steps, of the fastest peer, and of a kernel
# that only reads K and V, in microseconds, and step 20's shares of the speed of the last two.
# Arguments: DEVICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
timed() {
  text[add_time()] = field("heads") "\t" field("kv_heads") "\t" field("batch") "\t" field("seq_kv") "\t" field("seq_q")
}
END {
  if (!problems) {
    print "No row is recorded: `make decode` records them."
    exit
  }
  header("heads\tkv heads\tbatch\tkeys\tqueries\tstep 09, µs\tstep 18, µs\tstep 19, µs\tstep 20, µs\tstep 25, µs\tfastest peer, µs\tfastest peer\tstep 20 of its speed\tonly reading, µs\tstep 20 of reading's speed", 0)
  for (p = 1; p <= problems; p++) {
    choose_times(p)
    row(text[p] "\t" chosen_time(p, "09") "\t" chosen_time(p, "18") "\t" chosen_time(p, "19") "\t" \
      chosen_time(p, "20") "\t" chosen_time(p, "25") "\t" chosen_time(p, best) "\t" readable(best) "\t" \
      share_text(ratio_to(p, best)) "\t" chosen_time(p, "only_reading") "\t" share_text(ratio_to(p, "only_reading")))
  }
  origin()
}
