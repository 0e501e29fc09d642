# The table `decode` summed up by the bytes of K and V: step 20's share of the speed of a kernel that only reads them, in
# how many problems step 20 is slower than the fastest peer, by 0.1 % or more, and its smallest share of the peer's
# speed. One query and several have columns of their own.
# Arguments: DEVICE
# Data: decode.csv (make decode)
# Awk: scripts/decode_times
timed() {
  p = add_time()
  bytes[p] = 4 * field("batch") * field("kv_heads") * field("seq_kv") * field("head_dim") # K and V, of 2 bytes each
  queries[p] = field("seq_q") > 1 ? "several" : "one"
}
function bytes_text(count) {
  return count < 1e9 ? significant(count / 1e6) " MB" : significant(count / 1e9) " GB"
}
# Keeps the least and the largest value of a size.
function keep(name, size, value) {
  if (!((name, size) in least) || value < least[name, size]) least[name, size] = value
  if (!((name, size) in most) || value > most[name, size]) most[name, size] = value
}
function range_text(name, size,  low, high) {
  low = share_text(least[name, size])
  high = share_text(most[name, size])
  return low == high ? low : low " to " high
}
function cells_of(name, size,  reading, peer) {
  reading = name " reading"
  peer = name " peer"
  return ((reading, size) in least ? range_text(reading, size) : "") "\t" \
    ((peer, size) in least ? slower[name, size] + 0 " of " compared[name, size] "\t" sprintf("%.3f", least[peer, size]) : "\t")
}
END {
  for (p = 1; p <= problems; p++) {
    choose_times(p)
    sizes[bytes[p]]
    reading = ratio_to(p, "only_reading")
    peer = ratio_to(p, best)
    if (reading != "") keep(queries[p] " reading", bytes[p], reading)
    if (peer == "") continue
    keep(queries[p] " peer", bytes[p], peer)
    compared[queries[p], bytes[p]]++
    if (peer < 0.999) slower[queries[p], bytes[p]]++
  }
  count = sort_numbers(sizes, size)
  if (!count) {
    print "No row is recorded: `make decode` records them."
    exit
  }
  header("K and V\tone query: of reading's speed\tslower than the peer in\tat least, of the peer's speed\tseveral queries: of reading's speed\tslower than the peer in\tat least, of the peer's speed", 0)
  for (i = 1; i <= count; i++)
    row(bytes_text(size[i] + 0) "\t" cells_of("one", size[i]) "\t" cells_of("several", size[i]))
  origin()
}
