# Where step 20 has 128 blocks with 8 key blocks of 128 keys each, as many bytes of K and V for each block: its times in
# microseconds, where a block takes whole tiles of 16 rows, and where a tile is divided into 4 parts or 16. The number of
# rows is that of a group of heads; 17 to 32 rows are two tiles. Only reading is the time of the problem with whole
# tiles.
# Arguments: DEVICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
BEGIN {
  blocks = 128
  key_blocks = 8
}
timed() {
  rows = field("heads") / field("kv_heads") * field("seq_q")
  tiles = field("batch") * field("kv_heads") * (rows > 16 ? 2 : 1)
  if (rows > 32 || tiles * field("seq_kv") != blocks * key_blocks * 128) next
  kind = sprintf("%02d\t%d\t%d\t%d", rows, field("heads"), field("kv_heads"), field("seq_q"))
  kinds[kind]
  of_parts[kind, blocks / tiles] = add_time()
}
function time_of(kind, parts, name) {
  if (!((kind, parts) in of_parts)) return ""
  choose_times(of_parts[kind, parts])
  return chosen_time(of_parts[kind, parts], name)
}
END {
  count = sort_names(kinds, sorted)
  if (!count) {
    print "No row of this kind is recorded: `make decode` records them."
    exit
  }
  header("rows\theads\tkv heads\tqueries\twhole tiles, µs\t4 parts, µs\t16 parts, µs\tonly reading, µs", 0)
  for (i = 1; i <= count; i++) {
    line = sorted[i] "\t" time_of(sorted[i], 1, "20") "\t" time_of(sorted[i], 4, "20") "\t" time_of(sorted[i], 16, "20") \
      "\t" time_of(sorted[i], 1, "only_reading")
    sub(/^0/, "", line)
    row(line)
  }
  origin()
}
