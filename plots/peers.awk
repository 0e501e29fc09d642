# Lines of sequence length and how many times as fast a step is as SDPA's flash backend, and as the
# fastest of the peers, measured in the same run. Set by the page: head_dim, dtype.
field("head_dim") == head_dim && field("dtype") == dtype && timed() {
  milliseconds[field("causal"), field("step"), problem()] = field("median_ms")
  step_set[field("step")]
  if (is_step(field("step"))) next
  best_key = "best" SUBSEP problem()
  if (!(best_key in peer) || field("median_ms") < peer[best_key] + 0) peer[best_key] = field("median_ms")
  if (field("step") == "sdpa_flash") peer["flash", problem()] = field("median_ms")
}
END {
  for (key in milliseconds) {
    split(key, part, SUBSEP)
    if (!is_step(part[2])) continue
    what = substr(key, length(part[1] SUBSEP part[2] SUBSEP) + 1)
    size = part[3] * part[4] # batch and heads: the grid's, where a length was measured with two shapes
    for (i = split("flash best", base, " "); i > 0; i--) {
      point = base[i] SUBSEP part[1] SUBSEP part[2] SUBSEP part[6]
      if (!((base[i], what) in peer) || size < sizes[point]) continue
      sizes[point] = size
      share[point] = peer[base[i], what] / milliseconds[key]
      length_set[part[6]]
      panel_set[base[i], part[1]]
    }
  }
  lengths = sort_numbers(length_set, seq)
  if (!lengths) {
    nothing("No step was timed beside a peer" page_text() ".")
    exit
  }
  lowest = highest = 1
  for (point in share) {
    if (share[point] < lowest) lowest = share[point]
    if (share[point] > highest) highest = share[point]
  }
  lowest /= 1.3
  highest *= 1.5
  label_gap = 0.055
  words("head_dim " head_dim ", " dtype "; 1 is as fast, dotted: half as fast")
  steps = sort_names(step_set, step)
  for (causal = 0; causal <= 1; causal++) {
    add_panel("flash", " as SDPA flash")
    add_panel("best", " as the best peer")
  }
  print_lines()
  print_length_axes(seq, lengths, lowest, highest)
}
function add_panel(base, text,  i, j, point, points, last_share) {
  if (!((base, causal) in panel_set)) return
  for (i = 1; i <= steps; i++) {
    points = ""
    for (j = 1; j <= lengths; j++) {
      point = base SUBSEP causal SUBSEP step[i] SUBSEP seq[j]
      if (!(point in share)) continue
      points = points seq[j] "\t" share[point] "\n"
      last_share = share[point]
    }
    if (points != "") add_line(readable(step[i]), number_of(step[i]), points, last_share)
  }
  end_panel(text (causal ? ", causal" : ""), lowest, highest)
}
