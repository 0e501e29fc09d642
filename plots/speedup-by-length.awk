# Lines of sequence length and how many times as fast a step is as the base: a panel without and one with the causal
# mask. Set by the page: head_dim, dtype. Two times of one file make a better pair than times of two files, as they were
# measured in one run; and of two such pairs the file that is read last counts.
field("head_dim") == head_dim && field("dtype") == dtype && timed() {
  source = own SUBSEP file
  if (!(source in source_number)) source_number[source] = ++sources
  number = source_number[source]
  key = problem() SUBSEP field("step")
  median[number, key] = field("median_ms")
  low[number, key] = field("ci_low_ms")
  high[number, key] = field("ci_high_ms")
  if (!own || !is_step(field("step"))) base_set[field("step")]
  if (!wanted(field("step"))) next
  rows++
  row_source[rows] = number
  row_problem[rows] = problem()
  row_step[rows] = field("step")
  row_name[rows] = drawn_name()
  row_batch[rows] = field("batch")
  row_heads[rows] = field("heads")
  row_seq[rows] = field("seq_q")
  row_causal[rows] = field("causal")
  row_throttled[rows] = throttled()
  if (field("speedup_low") > 0)
    row_pairs[rows] = field("base_step") SUBSEP field("speedup_low") SUBSEP field("speedup_high")
}
END {
  base = base_of(base_set)
  if (base == "") {
    nothing(base_chosen == "" ? "No step was right and timed" page_text() "." : \
      "The base " base_chosen " has no time" page_text() ".")
    exit
  }
  for (i = 1; i <= rows; i++) place(i, 0)
  for (i = 1; i <= rows; i++) place(i, row_source[i]) # replaces what was made of two files
  lengths = sort_numbers(x_set, seq)
  contenders = sort_names(name_set, step)
  if (!lengths) {
    nothing("No step was timed at a shape of the base, " readable(base) "," page_text() ".")
    exit
  }
  title = "Speed-up over " base_text(base) " by sequence length"
  find_range()
  if (lowest_put > 1) lowest_put = 1
  if (highest_put < 1) highest_put = 1
  words("head_dim " head_dim ", " dtype "; " batch_text(seq, lengths),
    "At 1 a contender is as fast as " base_text(base) "; a line below 1 is a slowdown.")
  for (causal = 0; causal <= 1; causal++) if (causal in panel_set) {
    add_lines(causal, step, contenders, seq, lengths)
    end_panel((causal ? ", causal" : ", not causal"), lowest_put / 1.3, highest_put * (is_linear() ? 1.05 : 1.5),
      is_linear())
  }
  print_lines(seq, lengths)
}
# The row's point, with the base of one file, or of any (0). The interval is that of the pairs; without pairs it is the
# widest that the two intervals of the times allow.
function place(i, of,  j, key, value, least, most, part) {
  key = row_problem[i] SUBSEP base
  if (of && !((of, key) in median)) return
  for (j = 1; !of && j <= sources; j++) if ((j, key) in median) of = j
  if (!of) return
  own_key = row_source[i] SUBSEP row_problem[i] SUBSEP row_step[i]
  value = median[of, key] / median[own_key]
  split(row_pairs[i], part, SUBSEP)
  if (of == row_source[i] && row_step[i] == base) {
    least = most = ""
  } else if (of == row_source[i] && part[1] == base) {
    least = part[2]
    most = part[3]
  } else if (low[of, key] > 0 && low[own_key] > 0) {
    least = low[of, key] / high[own_key]
    most = high[of, key] / low[own_key]
  }
  put_shape(row_causal[i], row_name[i], row_seq[i], value, least, most, row_batch[i], row_heads[i], row_throttled[i])
}
