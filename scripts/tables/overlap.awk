# How much of a step's time the tensor cores have work queued, what runs under it, and for what consumers wait.
# Arguments: DEVICE
# Awk: scripts/timeline
# With: timeline*.csv (make step14 timeline)
FILENAME != timeline_file && rows { keep() }
{
  timeline_row()
  step = field("step")
  dim = field("head_dim")
  cost = field("plain_ms") > 0 ? percent(field("stamped_ms") / field("plain_ms") - 1, 1) : ""
}
function percent(share, digits) { return share == "" ? "" : sprintf("%." digits + 0 "f %%", 100 * share) }
function keep(  key) {
  timeline_segments()
  timeline_summary()
  key = step SUBSEP dim
  names[step] = 1
  text[key] = percent(queued) "\t" percent(softmax_under) "\t" percent(softmax_under_own) "\t" percent(waiting["product_wait"]) "\t" \
    percent(waiting["barrier_wait"] + waiting["copy_wait"]) "\t" percent(waiting["turn_wait"] + waiting["block_wait"]) "\t" cost
}
END {
  if (rows) keep()
  if (!length(names)) exit
  header("step\thead_dim\ttensor cores have work queued\tsoftmax under products\tunder its own warps' products\twaits for a product\twaits for a tile\twaits for a turn or the block\tcost of the stamps", 1)
  count = sort_names(names, sorted)
  for (i = 1; i <= count; i++)
    for (d = 128; d >= 64; d -= 64)
      row(readable(sorted[i]) "\t" d "\t" (((sorted[i], d) in text) ? text[sorted[i], d] : "not recorded\t\t\t\t\t\t"))
  origin()
}
