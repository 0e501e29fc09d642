# Draws a timeline in the terminal: awk -f scripts/csv.awk -f scripts/timeline.awk -f scripts/timeline_text.awk
#   [-v columns=100] timeline-14-dim128.csv
{ timeline_row() }
BEGIN {
  if (columns < 40) columns = 100
  split("barrier_wait copy_wait turn_wait block_wait product_wait issue scores output softmax copy store other", list, " ")
  split(". . t b w q S P s c o", sign, " ")
  split("waits for a tile or an empty stage|waits for its own copies|waits for its turn|waits for the block" \
    "|waits for a product|queues a product|product of Q and K|product of P and V|softmax and other arithmetic|copies" \
    "|stores O", meaning, "|")
  for (i = 1; i in list; i++) letter[list[i]] = i in sign ? sign[i] : " "
}
# Of each character the kind that takes most of its time.
function line_of(row,  i, c, first, last, share, best, text, width) {
  split("", best)
  split("", share)
  width = stretch / columns
  for (i = 1; i <= segments; i++) {
    if (segment_row[i] != row) continue
    first = int(segment_begin[i] / width)
    last = int((segment_end[i] - 0.001) / width)
    for (c = first; c <= last; c++) {
      begin = segment_begin[i] > c * width ? segment_begin[i] : c * width
      end = segment_end[i] < (c + 1) * width ? segment_end[i] : (c + 1) * width
      share[c, segment_kind[i]] += end - begin
      if (share[c, segment_kind[i]] > share[c, best[c]]) best[c] = segment_kind[i]
    }
    seen[segment_kind[i]] = 1
  }
  for (c = 0; c < columns; c++) text = text (c in best ? letter[best[c]] : " ")
  return text
}
# Where products of the row are under way: S, P, or B for both; small letters where that is not certain.
function products_of(row,  i, c, width, middle, text, S, P, certain) {
  width = stretch / columns
  for (c = 0; c < columns; c++) {
    middle = (c + 0.5) * width
    S = P = certain = 0
    for (i = 1; i <= products; i++) {
      if (product_row[i] != row || product_begin[i] > middle || product_end[i] < middle) continue
      if (product_kind[i] == "scores") S = 1; else P = 1
      if (product_known[i] >= middle) certain = 1
    }
    text = text (S && P ? (certain ? "B" : "b") : S ? (certain ? "S" : "s") : P ? (certain ? "P" : "p") : " ")
  }
  return text
}
# The key blocks by the begin of their products of Q and K.
function numbers_of(row,  i, text, place) {
  text = sprintf("%" columns "s", "")
  for (i = 1; i <= products; i++) {
    if (product_row[i] != row || product_kind[i] != "scores" || product_begin[i] < 0) continue
    place = int(product_begin[i] / stretch * columns)
    if (place + length(product_block[i]) <= columns)
      text = substr(text, 1, place) product_block[i] substr(text, place + length(product_block[i]) + 1)
  }
  return text
}
function percent(share) { return sprintf("%.0f %%", 100 * share) }
END {
  if (!rows) exit
  timeline_segments()
  timeline_summary()
  for (row = 1; row <= rows; row++) if (length(row_name[row]) > widest) widest = length(row_name[row])
  if (widest < 12) widest = 12
  shape = "%-" widest "s |%s|\n"
  printf "%s, %s clocks of one multiprocessor\n", problem_text(), stretch
  for (row = 1; row <= rows; row++) {
    if (row_role[row] == "consumer") printf shape, "  key block", numbers_of(row)
    printf shape, row_name[row], line_of(row)
    if (row_queues[row] == timeline_file && row_role[row] == "consumer")
      printf shape, "  under way", products_of(row)
  }
  print ""
  for (i = 1; i in sign; i++)
    if (list[i] in seen) text = text (text == "" ? "" : ", ") sign[i] " " meaning[i]
  print text
  for (row = 1; row <= rows; row++) if (row_queues[row] == timeline_file) queues = 1
  if (queues)
    print "under way: S product of Q and K, P product of P and V, B both; small letters: perhaps complete already"
  print ""
  print "tensor cores have work queued: " percent(queued) " of the time"
  if (softmax_under != "") print "softmax while a product is queued or under way: " percent(softmax_under) " of the softmax, of the warps' own: " percent(softmax_under_own)
  text = ""
  for (i = 1; i in list; i++)
    if (list[i] ~ /wait/ && waiting[list[i]] >= 0.005)
      text = text (text == "" ? "" : ", ") percent(waiting[list[i]]) " " meaning[i]
  print "a consumer " (text == "" ? "never waits" : text)
}
