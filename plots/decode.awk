# Lines of the number of keys and the speed at which K and V were read: a panel for each batch, for one query of 32
# heads that share 8 key/value heads. A dotted line is a kernel that only reads, timed in turn with the others.
timed() && wanted(field("step")) && field("seq_q") == 1 && field("heads") == 32 && field("kv_heads") == 8 {
  of_graph = field("graph_ms") != ""
  megabytes = 4e-6 * field("batch") * field("kv_heads") * field("seq_kv") * field("head_dim") # of K and V
  put(field("batch"), drawn_name(), field("seq_kv"), speed(of_graph ? "graph_ms" : "median_ms"),
    speed(of_graph ? "graph_ci_high_ms" : "ci_high_ms"), speed(of_graph ? "graph_ci_low_ms" : "ci_low_ms"))
  subtitle = "one query, 32 heads, 8 key/value heads, head_dim " field("head_dim") ", " field("dtype")
}
function speed(column) { return field(column) > 0 ? megabytes / field(column) : "" }
END {
  lengths = sort_numbers(x_set, keys)
  if (!lengths) {
    nothing("No step was right and timed.")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  words(subtitle, "Bytes of K and V by the time of a launch; below 50 microseconds, of one in a replayed graph.")
  batches = sort_numbers(panel_set, batch)
  for (i = 1; i <= batches; i++) {
    add_lines(batch[i], step, contenders, keys, lengths)
    end_panel(", batch " batch[i], lowest_put / 1.5, highest_put * (axis_chosen == "logarithmic" ? 1.5 : 1.05),
      axis_chosen != "logarithmic")
  }
  print_lines(keys, lengths)
}
