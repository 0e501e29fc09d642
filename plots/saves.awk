# Bars: the rows of one shape and one source, those that most steps were counted at, and of ncu before the
# emulator's.
is_step(field("step")) {
  key = field("source") SUBSEP problem()
  if (!((key, field("step")) in seen)) steps_of[key]++
  seen[key, field("step")] = 1
  text_of[key] = problem_text() "; " (field("source") == "ncu" ? "counted by the GPU (ncu)" : "counted by the emulator")
  add(1, "global_load_sectors", "global_store_sectors")
  add(2, "dram_read_bytes", "dram_write_bytes")
  add(3, "shared_load_wavefronts", "shared_store_wavefronts")
  add(4, "async_copy_bytes", "")
  add(5, "tensor_core_operations", "")
  add(6, "block_barriers", "")
}
# One count, or the sum of two; empty when the source cannot tell. A later row replaces an earlier one.
function add(panel, first, second) {
  value[key, field("step"), panel] = \
    field(first) == "" && field(second) == "" ? "" : field(first) + field(second)
}
END {
  for (key in steps_of)
    if (chosen == "" || steps_of[key] > steps_of[chosen] ||
        steps_of[key] == steps_of[chosen] && key > chosen) chosen = key # "ncu" > "emulator"
  if (chosen == "") {
    nothing("No step is counted in counts.csv.")
    exit
  }
  for (key in value) {
    if (index(key, chosen SUBSEP) != 1) continue
    split(substr(key, length(chosen SUBSEP) + 1), part, SUBSEP)
    step_set[part[1]]
    bar[part[1], part[2]] = value[key]
  }
  words(text_of[chosen])
  print_bars(step_set, "global memory, sectors of 32 bytes|DRAM, bytes|shared memory, wavefronts" \
    "|cp.async, bytes|tensor cores, instructions|block barriers")
}
