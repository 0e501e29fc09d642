# The table `decode` for one number of heads and a choice of problems, without the steps before 19. 1:1,16:4 are those of
# batch 1 with one query, and of batch 16 with four.
# Arguments: DEVICE HEADS KV_HEADS CHOICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
BEGIN {
  for (i = split(choice, list, ","); i > 0; i--) is_wanted[list[i]]
}
timed() && field("heads") == heads && field("kv_heads") == kv_heads && (field("batch") ":" field("seq_q")) in is_wanted {
  text[add_time()] = field("batch") "\t" field("seq_kv") "\t" field("seq_q")
}
END {
  if (!problems) {
    print "No row of this kind is recorded: `make decode` records them."
    exit
  }
  header("batch\tkeys\tqueries\tstep 19, µs\tstep 20, µs\tfastest peer, µs\tfastest peer\tstep 20 of its speed\tonly reading, µs\tstep 20 of reading's speed", 0)
  for (p = 1; p <= problems; p++) {
    choose_times(p)
    row(text[p] "\t" chosen_time(p, "19") "\t" chosen_time(p, "20") "\t" chosen_time(p, best) "\t" readable(best) "\t" \
      share_text(ratio_to(p, best)) "\t" chosen_time(p, "only_reading") "\t" share_text(ratio_to(p, "only_reading")))
  }
  origin()
}
