# Lines of sequence length and how many times as fast a step is as SDPA's flash backend, and as the fastest of the
# peers, measured in the same run. Set by the page: head_dim, dtype.
field("head_dim") == head_dim && field("dtype") == dtype && timed() {
  source = own SUBSEP file SUBSEP problem()
  if (!is_step(field("step"))) {
    note_peer("best")
    if (field("step") == "sdpa_flash") note_peer("flash")
    next
  }
  if (!wanted(field("step"))) next
  rows++
  row_source[rows] = source
  row_median[rows] = field("median_ms")
  row_low[rows] = field("ci_low_ms")
  row_high[rows] = field("ci_high_ms")
  row_shares[rows] = field("share_flash_low") SUBSEP field("share_flash_high") SUBSEP field("share_best_low") SUBSEP \
    field("share_best_high")
  row_name[rows] = drawn_name()
  row_shape[rows] = field("causal") SUBSEP field("seq_q") SUBSEP field("batch") SUBSEP field("heads") SUBSEP throttled()
}
function note_peer(base) {
  if ((base, source) in peer && field("median_ms") >= peer[base, source] + 0) return
  peer[base, source] = field("median_ms")
  peer_low[base, source] = field("ci_low_ms")
  peer_high[base, source] = field("ci_high_ms")
}
# The interval is that of the pairs of one round; in older records the widest that the two intervals allow.
function place(i, base, column,  key, share, shape, low, high) {
  key = base SUBSEP row_source[i]
  if (!(key in peer)) return
  split(row_shares[i], share, SUBSEP)
  split(row_shape[i], shape, SUBSEP)
  low = share[column]
  high = share[column + 1]
  if (low == "" && peer_low[key] > 0 && row_low[i] > 0) {
    low = peer_low[key] / row_high[i]
    high = peer_high[key] / row_low[i]
  }
  put_shape(base SUBSEP shape[1], row_name[i], shape[2], peer[key] / row_median[i], low, high, shape[3], shape[4],
    shape[5])
}
END {
  for (i = 1; i <= rows; i++) {
    place(i, "flash", 1)
    place(i, "best", 3)
  }
  lengths = sort_numbers(x_set, seq)
  if (!lengths) {
    nothing("No step was timed beside a peer" page_text() ".")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  if (lowest_put > 1) lowest_put = 1
  if (highest_put < 1) highest_put = 1
  words("head_dim " head_dim ", " dtype "; " batch_text(seq, lengths),
    "At 1 a step is as fast as the peer, at the dotted line half as fast.")
  for (causal = 0; causal <= 1; causal++) {
    add_panel("flash", " as SDPA flash")
    add_panel("best", " as the best peer")
  }
  print_lines(seq, lengths)
}
function add_panel(base, text) {
  if (!((base, causal) in panel_set)) return
  add_lines(base SUBSEP causal, step, contenders, seq, lengths)
  end_panel(text (causal ? ", causal" : ""), lowest_put / 1.3, highest_put * (is_linear() ? 1.05 : 1.5), is_linear())
}
