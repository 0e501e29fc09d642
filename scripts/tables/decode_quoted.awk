# One query or a few against many keys, for one number of heads: times in a replayed graph, in microseconds, of kernels
# that the lab has not timed itself, beside step 20's in a run of another day. The reading of the same bytes tells how
# far the two runs can be compared. The file's comments say where the quoted times are from.
# Arguments: DEVICE HEADS KV_HEADS
# Data: decode-quoted.csv, decode.csv (make decode)
field("heads") == heads && field("kv_heads") == kv_heads && field("graph_ms") != "" {
  name = field("step")
  if (file == "decode-quoted" || name == "only_reading" || name ~ /^20_/) {
    if (!(problem() in place_of)) {
      place_of[problem()] = ++problems
      text[problems] = field("batch") "\t" field("seq_kv") "\t" field("seq_q")
    }
    microseconds[place_of[problem()], name ~ /^20_/ ? "20" : name] = significant(1000 * field("graph_ms"))
  }
}
END {
  header("batch\tkeys\tqueries\tXQA (quoted)\tFlashInfer (quoted)\tonly reading (quoted)\tstep 20\tonly reading", 0)
  for (p = 1; p <= problems; p++)
    if ((p, "20") in microseconds)
      row(text[p] "\t" microseconds[p, "xqa_quoted"] "\t" microseconds[p, "flashinfer_quoted"] "\t" \
        microseconds[p, "only_reading_quoted"] "\t" microseconds[p, "20"] "\t" microseconds[p, "only_reading"])
  origin()
}
