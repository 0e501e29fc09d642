# What one step brought, in every ladder that was recorded.
# Arguments: DEVICE NN
# Data: ladder.csv (make ladder)
# With: ladder-*.csv
{ key = problem() }
!(key in number_here) {
  number_here[key] = ++problems
  text[problems] = problem_text()
}
{ p = number_here[key] }
has_number(field("step"), nn) {
  time[p] = time_cell()
  milliseconds[p] = timed() ? field("median_ms") : 0
  tflops[p] = timed() ? field("tflops") : ""
  before[p] = last[p]
  speedup[p] = field("base_step") == field("step") ? "" : ratio_cell("speedup")
  speedup_before[p] = ratio_cell("speedup_before")
  same_tile[p] = same_tile_cell()
  if (same_tile[p] != "") tiles_there = 1
  found = 1
}
timed() {
  if (!(p in first)) first[p] = field("step") ~ /^01_/ ? field("median_ms") : 0
  last[p] = field("median_ms")
}
END {
  if (!found) {
    print "No recorded ladder holds step " nn " yet: `make ladder` records it."
    exit
  }
  header("problem\tms [95 %]\tTFLOP/s\t× the step before" (tiles_there ? "\t× the step before, same tile" : "") "\t× step 01", 1)
  for (p = 1; p <= problems; p++) {
    if (time[p] == "") continue
    row(text[p] "\t" time[p] "\t" significant(tflops[p]) "\t" (speedup_before[p] != "" ? speedup_before[p] : ratio(before[p])) "\t" \
      (tiles_there ? same_tile[p] "\t" : "") \
      (speedup[p] != "" ? speedup[p] : ratio(first[p])))
  }
  origin()
}
function ratio(other) { return other && milliseconds[p] ? significant(other / milliseconds[p]) : "" }
