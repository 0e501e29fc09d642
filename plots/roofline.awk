# Roofs: copy bandwidth (TB/s) and levels (TFLOP/s), measured and of the vendor. Points: each step of the
# ladder whose DRAM bytes ncu has counted at the ladder's shape.
file == "ladder" && timed() && wanted(field("step")) {
  shape = problem()
  device = field("device")
  subtitle = problem_text()
  type = field("dtype")
  step_set[field("step")]
  tflops[field("step")] = field("tflops")
  operations[field("step")] = 1e12 * field("tflops") * field("median_ms") / 1000
}
file == "counts" && field("source") == "ncu" && field("dram_read_bytes") != "" && problem() == shape && field("configuration") == "" {
  bytes[field("step")] = field("dram_read_bytes") + field("dram_write_bytes")
}
file == "ceilings" && field("value") > 0 {
  measured[field("name")] = field("value")
  sheet[field("name")] = field("vendor_value")
}
END {
  if (!measured["copy_bandwidth"]) {
    nothing("There is no copy_bandwidth in ceilings.csv: make ceilings records it.")
    exit
  }
  slope = measured["copy_bandwidth"] / 1000
  add_level("tensor_wgmma_" type)
  add_level("tensor_mma_" type)
  add_level("fp32_fma")
  for (name in bytes) if (!(name in tflops) || bytes[name] <= 0) delete bytes[name]
  steps = sort_names(bytes, step)
  if (!steps || !levels) {
    nothing(!levels ? "No multiplier is measured in ceilings.csv: make ceilings records them." : \
      "counts.csv holds no DRAM bytes of the ladder's shape:\\n" subtitle "\\nmake count DEVICE=gpu records them.")
    exit
  }
  left = 1
  lowest = 1
  for (i = 1; i <= steps; i++) {
    x[i] = operations[step[i]] / bytes[step[i]]
    place[i] = log10(tflops[step[i]])
    if (x[i] / 2 < left) left = x[i] / 2
    if (x[i] * 30 > right) right = x[i] * 30
    if (tflops[step[i]] / 2 < lowest) lowest = tflops[step[i]] / 2
  }
  if (right < 8 * level_value[1] / slope) right = 8 * level_value[1] / slope
  highest = 2.5 * (level_value[1] > vendor_most ? level_value[1] : vendor_most)
  devices["list"] = device
  words(subtitle "; thick: measured, thin: data sheet",
    "No step can be above its roof. One far below waits for something that is not drawn here.")
  printf "slope = %g\nvendor_slope = %g\n", slope, sheet["copy_bandwidth"] ? sheet["copy_bandwidth"] / 1000 : slope
  printf "left = %g\nright = %g\nlowest = %g\nhighest = %g\n", left, right, lowest, highest
  gap = 0.036 * log10(highest / lowest)
  spread(level_place, levels, gap, log10(highest))
  spread_neighbours()
  for (i = 1; i <= levels; i++) level_y = level_y ", " 10 ^ level_place[i]
  for (i = 1; i <= steps; i++) {
    names = names ", " quoted(unmarked(readable(step[i])))
    description = description (i > 1 ? "; " : "") readable(step[i]) " " three_digits(tflops[step[i]]) " TFLOP/s at " \
      three_digits(x[i]) " operations a byte"
    styles = styles ", " number_of(step[i])
    xs = xs ", " x[i]
    ys = ys ", " tflops[step[i]]
    label_ys = label_ys ", " 10 ^ place[i]
  }
  print "description = " quoted(description ".")
  print_array("level", level_list, levels)
  print_array("level_name", level_names, levels)
  print_array("level_y", level_y, levels)
  print_array("vendor", vendor_list == "" ? ", NaN" : vendor_list, vendors ? vendors : 1)
  print_array("step_name", names, steps)
  print_array("step_style", styles, steps)
  print_array("step_x", xs, steps)
  print_array("step_y", ys, steps)
  print_array("label_y", label_ys, steps)
}
# Moves the names apart of those steps that stand near one another along the x axis.
function spread_neighbours(  i, j, k, order, members, near) {
  for (i = 1; i <= steps; i++) {
    for (j = i - 1; j > 0 && x[order[j]] > x[i]; j--) order[j + 1] = order[j]
    order[j + 1] = i
  }
  for (i = 1; i <= steps; i = j) {
    members = 0
    for (j = i; j <= steps && (j == i || x[order[j]] < 3 * x[order[j - 1]]); j++) near[++members] = place[order[j]]
    spread(near, members, gap, log10(0.97 * level_value[1]), log10(lowest))
    for (k = 1; k <= members; k++) place[order[i + k - 1]] = near[k]
  }
}
function add_level(name,  value) {
  if (!measured[name]) return
  value = measured[name]
  level_value[++levels] = value
  level_place[levels] = log10(value)
  level_list = level_list ", " value
  level_names = level_names ", " quoted(unmarked(ceiling_text(name)) " " three_digits(value))
  if (sheet[name] > 0 && !(sheet[name] in vendor_seen)) {
    vendor_seen[sheet[name]] = 1
    vendors++
    vendor_list = vendor_list ", " sheet[name]
    if (sheet[name] > vendor_most) vendor_most = sheet[name]
  }
}
