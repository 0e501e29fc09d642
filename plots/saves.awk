# Bars: the rows of one shape and one source, those that most steps were counted at. Of two sources with as many, the one
# that counts barriers, which ncu does not; else ncu before the emulator. Rows of a configuration that was asked for are
# left out.
is_step(field("step")) && field("configuration") == "" {
  key = field("source") SUBSEP problem()
  if (!((key, field("step")) in seen)) steps_of[key]++
  seen[key, field("step")] = 1
  device_of[key] = field("device")
  note_origin(substr(field("date"), 1, 10))
  text_of[key] = problem_text() "; " (field("source") == "ncu" ? "counted by the GPU (ncu)" : "counted by the emulator")
  add(1, "global_load_sectors", "global_store_sectors")
  add(2, "dram_read_bytes", "dram_write_bytes")
  add(3, "shared_load_wavefronts", "shared_store_wavefronts")
  add(4, "async_copy_bytes", "")
  add(5, "tensor_core_operations", "")
  add(6, "block_barriers", "")
  if (field("block_barriers") != "") barriers[key] = 1
  past_counters[key, field("step")] = brings_otherwise()
}
# The rows that are drawn have commits and dates of their own.
function note_origin(day) {
  if (!((key, field("commit")) in noted))
    commits_of[key] = (commits_of[key] != "" ? commits_of[key] ", " : "") field("commit")
  noted[key, field("commit")]
  if (!(key in first_of) || day < first_of[key]) first_of[key] = day
  if (day > last_of[key]) last_of[key] = day
}
# One count, or the sum of two; empty when the source cannot tell. A later row replaces an earlier one.
function add(panel, first, second) {
  value[key, field("step"), panel] = \
    field(first) == "" && field(second) == "" ? "" : field(first) + field(second)
}
# Whether fewer sectors were loaded than Q, K and V hold: then TMA brought them, past the counters of loads, of
# shared memory and of cp.async; and wgmma reads shared memory past its counter.
function brings_otherwise() {
  return field("global_load_sectors") != "" && 32 * field("global_load_sectors") < \
    2 * field("batch") * field("head_dim") * (field("heads") * field("seq_q") + 2 * field("kv_heads") * field("seq_kv"))
}
function is_before(a, b) {
  if (steps_of[a] != steps_of[b]) return steps_of[a] > steps_of[b]
  if (barriers[a] != barriers[b]) return barriers[a] + 0 > barriers[b] + 0
  return a > b # "ncu" > "emulator"
}
END {
  for (key in steps_of) if (chosen == "" || is_before(key, chosen)) chosen = key
  if (chosen == "") {
    nothing("No step is counted in counts.csv.")
    exit
  }
  for (key in value) {
    if (index(key, chosen SUBSEP) != 1) continue
    split(substr(key, length(chosen SUBSEP) + 1), part, SUBSEP)
    step_set[part[1]]
    bar[part[1], part[2]] = value[key]
    if (past_counters[chosen, part[1]] && (part[2] == 1 || part[2] == 3 || part[2] == 4 && index(chosen, "ncu") == 1)) {
      unseen[part[1], part[2]]
      passes = 1
    }
  }
  devices["list"] = device_of[chosen]
  commits["list"] = commits_of[chosen]
  first_date = first_of[chosen]
  last_date = last_of[chosen]
  words(text_of[chosen], "Look for the count that a step was written to lower. The axes are logarithmic." \
    (passes ? " Not seen: TMA and wgmma pass by this counter." : ""))
  add_counts(step_set, "global memory, sectors|DRAM, bytes|shared memory, wavefronts" \
    "|cp.async, bytes" (index(chosen, "ncu") == 1 ? "" : " (with TMA's)") "|tensor cores, instructions|block barriers")
  print_rows(3)
}
