# A line of the number of splits and the time: the file that one step's sweep of them has written. A time below 50
# microseconds is that of a replayed graph.
timed() && wanted(field("step")) && match(field("configuration"), /:[0-9]+$/) {
  factor = field("graph_ms") != "" ? field("graph_ms") / field("median_ms") : 1
  put(1, drawn_name(), substr(field("configuration"), RSTART + 1), 1000 * factor * field("median_ms"),
    1000 * factor * field("ci_low_ms"), 1000 * factor * field("ci_high_ms"))
  subtitle = problem_text()
}
END {
  counts = sort_numbers(x_set, splits)
  if (!counts) {
    nothing("No number of splits was right and timed.")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  words(subtitle, "Too few splits leave multiprocessors idle, and each split adds a partial result to be merged.")
  add_lines(1, step, contenders, splits, counts)
  end_panel(axis_chosen == "linear" ? "" : ", logarithmic", lowest_put / 1.25, highest_put * (axis_chosen == "linear" ? 1.05 : 1.25), axis_chosen == "linear")
  print_lines(splits, counts)
}
