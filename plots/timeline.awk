# Boxes for each row: above, what the warp does; below it, the products that it has queued. The numbers in the boxes are
# those of source lines above, and of key blocks below.
{
  timeline_row()
  step = field("step")
  subtitle = problem_text()
  cost = field("plain_ms") > 0 ? "; stamps make this run " slower("stamped_ms") ", and " slower("all_stamped_ms") " if all multiprocessors record" : ""
}
function slower(column,  more) {
  more = 100 * (field(column) / field("plain_ms") - 1)
  return sprintf("%.1f %% %s", more < 0 ? -more : more, more < 0 ? "faster" : "slower")
}
function block_of(kind) {
  if (kind == "product_wait") return "wait_product"
  if (kind == "turn_wait" || kind == "block_wait") return "wait_turn"
  if (kind ~ /wait/) return "wait_tile"
  if (kind == "store") return "copy"
  return kind
}
function box(kind, begin, end, low, high) {
  if (end > begin)
    boxes[kind] = boxes[kind] sprintf("%.1f\t%.3f\t%d\t%d\t%.3f\t%.3f\n", (begin + end) / 2, (low + high) / 2, begin, end, low, high)
}
# A label where there is room for it. A digit is about eleven pixels wide.
function label(text, begin, end, y, colour) {
  if ((end - begin) * 1590 / stretch < 11 * length(text) + 4) return
  labels = labels sprintf("set label %d %s at %d,%.3f center front noenhanced font ',15' tc rgb '%s'\n", ++label_count, \
    quoted(text), (begin + end) / 2, y, colour)
}
function percent(share) { return sprintf("%.0f %%", 100 * share) }
END {
  if (!rows) {
    nothing("No event is recorded.")
    exit
  }
  timeline_segments()
  timeline_summary()
  title = title " of step " readable(step)
  print "stretch = " stretch + 0
  print "rows = " rows + 0
  for (i = 1; i <= rows; i++) if (length(row_name[i]) > widest) widest = length(row_name[i])
  print "left = " (widest > 12 ? 0.13 : 0.085)
  print "letters = " widest + 2
  print "dumb_height = " 14 + rows * 3
  print "canvas_height = " 335 + rows * (rows > 8 ? 70 : 105)
  print "description = " quoted("A chart of " rows " rows, one for each warp or warp group, over " stretch " clocks.")
  for (i = 1; i <= rows; i++)
    labels = labels sprintf("set label %d %s at graph -0.006,first %.2f right front noenhanced font ',17' offset (terminal eq 'dumb' ? -1 : 0),0\n", ++label_count, \
      quoted(row_name[i]), 1 - row_rank[i] - (row_queues[i] == timeline_file ? 0.5 : 0.42))
  for (i = 1; i <= segments; i++) {
    row = segment_row[i]
    top = 1 - row_rank[row] - 0.12
    bottom = row_queues[row] == timeline_file && row_role[row] == "consumer" ? top - 0.42 : top - 0.6
    box(block_of(segment_kind[i]), segment_begin[i], segment_end[i], bottom, top)
    if (segment_file[i] != "attention.cu") continue
    if (segment_kind[i] ~ /wait|issue|store/ || (segment_kind[i] == "copy" && row_role[row] == "producer"))
      label(segment_line[i], segment_begin[i], segment_end[i], (top + bottom) / 2, "white")
  }
  for (i = 1; i <= products; i++) {
    row = product_row[i]
    if (row_queues[row] != timeline_file) continue
    begin = product_begin[i] > 0 ? product_begin[i] : 0
    end = product_end[i] < stretch ? product_end[i] : stretch
    known = product_known[i] < end ? product_known[i] : end
    top = 1 - row_rank[row] - 0.57 - (product_kind[i] == "output" ? 0.15 : 0)
    box(product_kind[i], begin, known, top - 0.15, top)
    box("unknown", known > begin ? known : begin, end, top - 0.15, top)
    label(product_block[i], begin, end, top - 0.075, product_kind[i] == "scores" && known > (begin + end) / 2 ? "white" : "black")
  }
  # The picture of steps that multiply by mma.sync has no numbers.
  words(subtitle cost, "Tensor cores have work queued for " percent(queued) " of the time" \
    (softmax_under == "" ? "" : "; " percent(softmax_under) " of the softmax runs under products, " percent(softmax_under_own) \
    " under the warps' own") "." (label_count == rows ? "" : " Numbers: source lines above, key blocks below."))
  count = split("scores output unknown issue softmax wait_product wait_turn wait_tile copy", kind, " ")
  for (i = 1; i <= count; i++) print "$" kind[i] " << EOD\n" (kind[i] in boxes ? boxes[kind[i]] : "0\t0\t0\t0\t0\t0\n") "EOD" # or nothing to see
  printf "%s", labels
  print "labels = " label_count
}
