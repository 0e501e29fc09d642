# What the events of a timeline say, for awk programs behind scripts/csv.awk: the text chart, the picture, the trace and
# the table. All read results/<GPU>/timeline-NN-dimD.csv, the events of one multiprocessor (common/tools/timeline).
#
#   timeline_row()      takes the row that is read; a row of another file begins anew
#   timeline_segments() then makes of all rows
#     rows, row_name[1..rows], row_role[] ("consumer" or "producer"), row_rank[] (by block and warp), stretch (clocks)
#     segments, segment_row[], segment_begin[], segment_end[], segment_kind[], segment_line[], segment_file[]
#     products, product_row[], product_begin[], product_end[], product_kind[] ("scores" or "output"), product_block[],
#     product_known[]: until when it was certainly under way
#   timeline_summary()  then computes shares of 1, "" where there is none:
#     queued              of the time in which any product is queued or under way
#     softmax_under       of the consumers' softmax that runs meanwhile
#     softmax_under_own   of the softmax that runs while a product of the same warp group is
#     waiting[kind]       of the consumers' time
#
# The kinds of segments are barrier_wait, copy_wait, turn_wait, block_wait, product_wait, issue (products are being
# queued), scores and output (products by mma.sync), softmax (and all other arithmetic between two products), copy, store
# and other. A product by mma.sync lasts from the wait before it to the softmax, and from the first fragment of V that is
# loaded to the next wait. A product of wgmma lasts from the fence before it to the end of the wait for it. If that wait
# took less than 64 clocks, the product may have been complete before, and nothing tells when: known is then the time at
# which the warp went on from queueing it.
#
# A wait for a turn or for the block is bar.sync, behind which a warp reads the clock before the wait ends: the events say
# 2 clocks, also where the other warps come hundreds of clocks later. So in a kernel with wgmma such a wait lasts to the
# next event of the warp, and holds up to about 100 clocks of other work.

function timeline_forget() {
  events = rows = segments = products = 0
  split("", row_of)
  timeline_file = FILENAME
}

function timeline_row(  key) {
  if (FILENAME != timeline_file) timeline_forget()
  key = field("block") SUBSEP field("warp")
  if (!(key in row_of)) {
    row_of[key] = ++rows
    row_block[rows] = field("block") + 0
    row_warp[rows] = field("warp") + 0
    row_role[rows] = ""
  }
  events++
  event_row[events] = row_of[key]
  event_begin[events] = field("begin") + 0
  event_end[events] = field("end") + 0
  event_kind[events] = field("kind")
  event_key_block[events] = field("key_block")
  event_line[events] = field("line")
  event_file[events] = field("file")
  stretch = field("stretch") + 0
  if (field("kind") ~ /^queue_/) row_queues[row_of[key]] = timeline_file
}

function add_segment(lane, begin, end, kind, event) {
  if (begin < 0) begin = 0
  if (end > stretch) end = stretch
  if (end <= begin) return
  segments++
  segment_row[segments] = lane
  segment_begin[segments] = begin
  segment_end[segments] = end
  segment_kind[segments] = kind
  segment_line[segments] = event_line[event]
  segment_file[segments] = event_file[event] "" # gawk 5.2.1, which Debian 12 has, fails at a copy without the ""
}

function add_product(event) {
  products++
  product_row[products] = event_row[event]
  product_begin[products] = event_begin[event]
  product_known[products] = product_end[products] = event_end[event]
  product_kind[products] = event_kind[event] ~ /scores/ ? "scores" : "output"
  product_block[products] = event_key_block[event]
}

# The products of the row from `oldest` on that are complete when the event, a wait, ends: all but the `newest` newest.
function complete(oldest, newest, event) {
  for (; oldest <= products - newest; oldest++) {
    product_end[oldest] = event_end[event]
    if (event_end[event] - event_begin[event] >= 64) product_known[oldest] = event_end[event]
  }
  return oldest
}

# Goes through the events of one row. What a warp does between two events follows from the event before.
function walk(lane, first, last,  i, kind, gap, oldest, queues, p) {
  gap = "other"
  oldest = products + 1
  queues = row_queues[lane] == timeline_file
  for (i = first; i <= last; i++) {
    kind = event_kind[i]
    if (kind == "softmax" && i > first && gap != "softmax") { # what came before it was the product of Q and K
      add_product(i)
      product_kind[products] = gap = "scores"
      product_begin[products] = event_end[i - 1]
      product_known[products] = product_end[products] = event_begin[i]
    }
    if (i > first) add_segment(lane, event_end[i - 1], event_begin[i], gap, i - 1)
    if (gap ~ /output|issue/) product_known[products] = product_end[products] = event_begin[i]
    if (kind ~ /wait/) {
      add_segment(lane, event_begin[i], event_end[i], kind == "product_wait_1" ? "product_wait" : kind, i)
      if (kind ~ /product/) {
        oldest = complete(oldest, kind == "product_wait_1", i)
        gap = "softmax"
      } else if (row_role[lane] == "producer") {
        gap = "copy"
      } else if (queues && (kind == "turn_wait" || kind == "block_wait")) {
        gap = kind # bar.sync lets the clock behind it be read before the wait ends
      } else if (kind != "barrier_wait" || gap != "softmax") {
        gap = "other"
      }
    } else if (kind == "softmax") {
      add_segment(lane, event_begin[i], event_end[i], kind, i)
      gap = "softmax"
    } else if (kind ~ /scores|output/) {
      add_product(i)
      if (!queues) add_segment(lane, event_begin[i], event_end[i], kind, i)
      gap = queues ? "issue" : "output"
    } else if (kind == "store") {
      add_segment(lane, event_begin[i], event_end[i], kind, i)
      gap = "other"
    } else if (kind == "copy") {
      gap = row_role[lane] == "producer" ? "copy" : "other"
    }
  }
  for (p = oldest; queues && p <= products; p++) product_end[p] = event_end[last] # their wait is not in the file
}

function timeline_segments(  i, j, first, blocks, name) {
  for (i = 1; i <= events; i++) if (event_kind[i] ~ /scores|output|softmax/) row_role[event_row[i]] = "consumer"
  for (i = 1; i <= events; i++)
    if (event_kind[i] == "copy" && row_role[event_row[i]] == "") row_role[event_row[i]] = "producer"
  for (i = 1; i <= rows; i++) if (row_block[i] != row_block[1]) blocks = 1
  for (i = 1; i <= rows; i++) {
    row_rank[i] = 1
    for (j = 1; j <= rows; j++)
      row_rank[i] += row_block[j] < row_block[i] || (row_block[j] == row_block[i] && row_warp[j] < row_warp[i])
    row_of_rank[row_rank[i]] = i
    if (row_role[i] == "") row_role[i] = "consumer"
    name = row_queues[i] == timeline_file ? "warps " row_warp[i] "-" row_warp[i] + 3 : "warp " row_warp[i]
    if (row_role[i] == "producer") name = "producer"
    row_name[i] = (blocks ? "block " row_block[i] ", " : "") name
  }
  for (first = 1; first <= events; first = i) {
    for (i = first; i <= events && event_row[i] == event_row[first]; i++);
    walk(event_row[first], first, i - 1)
  }
}

# Puts the times of a row's products, or of all rows' where `row` is 0, into merged_begin[1..] and merged_end[1..], in
# order and without overlaps.
function merge_products(lane,  i, j, count, chosen, order, begin, end) {
  chosen = 0
  for (i = 1; i <= products; i++) {
    if (lane && product_row[i] != lane) continue
    for (j = chosen++; j > 0 && product_begin[order[j]] > product_begin[i]; j--) order[j + 1] = order[j]
    order[j + 1] = i
  }
  count = 0
  for (i = 1; i <= chosen; i++) {
    begin = product_begin[order[i]] > 0 ? product_begin[order[i]] : 0
    end = product_end[order[i]] < stretch ? product_end[order[i]] : stretch
    if (end <= begin) continue
    if (count && begin <= merged_end[count]) {
      if (end > merged_end[count]) merged_end[count] = end
    } else {
      merged_begin[++count] = begin
      merged_end[count] = end
    }
  }
  return count
}

# How many clocks of a row's softmax, or of all rows' where `row` is 0, lie in the merged times.
function softmax_in_merged(lane, count,  i, j, begin, end, sum) {
  for (i = 1; i <= segments; i++) {
    if (segment_kind[i] != "softmax" || (lane && segment_row[i] != lane)) continue
    for (j = 1; j <= count; j++) {
      begin = segment_begin[i] > merged_begin[j] ? segment_begin[i] : merged_begin[j]
      end = segment_end[i] < merged_end[j] ? segment_end[i] : merged_end[j]
      if (end > begin) sum += end - begin
    }
  }
  return sum
}

function timeline_summary(  i, count, consumers, softmax, own, kinds, kind) {
  # Each element is there, because gawk 5.2.1 fails at an argument of a function that is an element which is not.
  split("", waiting)
  kinds = split("softmax issue product_wait barrier_wait copy_wait turn_wait block_wait", kind, " ")
  for (i = 1; i <= kinds; i++) waiting[kind[i]] = ""
  queued = softmax_under = softmax_under_own = ""
  if (stretch <= 0) return
  for (i = 1; i <= rows; i++) consumers += row_role[i] == "consumer"
  for (i = 1; i <= segments; i++) {
    if (row_role[segment_row[i]] != "consumer") continue
    waiting[segment_kind[i]] += (segment_end[i] - segment_begin[i]) / (stretch * consumers)
    if (segment_kind[i] == "softmax") softmax += segment_end[i] - segment_begin[i]
  }
  for (i = 1; i <= rows; i++) own += softmax_in_merged(i, merge_products(i))
  count = merge_products(0)
  for (i = 1; i <= count; i++) queued += (merged_end[i] - merged_begin[i]) / stretch
  if (softmax > 0) {
    softmax_under = softmax_in_merged(0, count) / softmax
    softmax_under_own = own / softmax
  }
}
