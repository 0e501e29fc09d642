# Writes a timeline in Chrome's trace format, which https://ui.perfetto.dev opens:
#   awk -f scripts/csv.awk -f scripts/timeline.awk -f scripts/timeline_trace.awk timeline-14-dim128.csv >trace.json
# A clock counts as a nanosecond, because the format knows times alone. Products that may be complete before their wait
# say so in their name.
{ timeline_row() }
function text_of(text) {
  gsub(/[\\"]/, "\\\\&", text)
  return "\"" text "\""
}
function span(row, lane, begin, end, name, line) {
  printf "%s\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, \"name\": %s%s}", separator, 2 * row + lane, \
    begin / 1000, (end - begin) / 1000, text_of(name), (line == "" ? "" : ", \"args\": {\"line\": " text_of(line) "}")
  separator = ","
}
function lane_name(row, lane, name) {
  printf "%s\n{\"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": %s}}", separator, 2 * row + lane, \
    text_of(name)
  printf ",\n{\"ph\": \"M\", \"pid\": 0, \"tid\": %d, \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": %d}}", 2 * row + lane, \
    2 * row + lane
  separator = ","
}
END {
  timeline_segments()
  printf "{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["
  for (row = 1; row <= rows; row++) {
    lane_name(row, 0, row_name[row])
    if (row_queues[row] == timeline_file && row_role[row] == "consumer") lane_name(row, 1, row_name[row] ", products")
  }
  for (i = 1; i <= segments; i++)
    span(segment_row[i], 0, segment_begin[i], segment_end[i], segment_kind[i], segment_file[i] ":" segment_line[i])
  for (i = 1; i <= products; i++) {
    if (row_queues[product_row[i]] != timeline_file) continue
    begin = product_begin[i] > 0 ? product_begin[i] : 0
    end = product_end[i] < stretch ? product_end[i] : stretch
    if (end > begin)
      span(product_row[i], 1, begin, end, product_kind[i] " " product_block[i] (product_known[i] < end ? " (end not known)" : ""))
  }
  print "\n]}"
}
