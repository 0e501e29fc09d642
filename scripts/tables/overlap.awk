# How much of a step's time the tensor cores have work queued, what runs under it, and for what consumers wait. It has the
# steps that were recorded.
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
  key = step + 0 SUBSEP dim
  names[step + 0] = readable(step)
  text[key] = percent(queued) "\t" percent(softmax_under) "\t" percent(softmax_under_own) "\t" percent(waiting["softmax"]) "\t" \
    percent(waiting["issue"]) "\t" percent(waiting["product_wait"]) "\t" percent(waiting["barrier_wait"] + waiting["copy_wait"]) "\t" \
    (waiting["issue"] == "" ? "" : percent(waiting["turn_wait"] + waiting["block_wait"])) "\t" sprintf("%.0f", stretch / 4) "\t" cost
}
END {
  if (rows) keep()
  if (!length(names)) exit
  header("step\thead_dim\ttensor cores have work queued\tsoftmax under products\tunder its own warps' products\ta consumer computes its softmax\tqueues products\twaits for a product\twaits for a tile\twaits for a turn or the block\tclocks of a key block\tcost of the stamps", 1)
  steps = split("06 09 11 12 13 14 15 16 17", number, " ")
  for (i = 1; i <= steps; i++)
    for (d = 128; d >= 64; d -= 64)
      if ((number[i] + 0, d) in text) row(names[number[i] + 0] "\t" d "\t" text[number[i] + 0, d])
  origin()
}
