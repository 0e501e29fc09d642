# What one forward pass of each step asks of the machine: a table for each shape and source.
# Arguments: DEVICE
# Data: counts.csv (make count)
{
  key = field("source") SUBSEP problem()
  if (!(key in table_of)) {
    table_of[key] = ++tables
    text[tables] = problem_text() (field("source") == "ncu" ? ", counted by the GPU (ncu)." : ", counted by the emulator.")
  }
  t = table_of[key]
  lines[t, ++size[t]] = readable(field("step")) (field("configuration") == "" ? "" : " " field("configuration")) "\t" count("global_load_sectors") "\t" \
    (field("global_load_requests") > 0 ? significant(field("global_load_sectors") / field("global_load_requests")) : "") "\t" \
    count("global_store_sectors") "\t" count("shared_load_wavefronts") "\t" count("shared_store_wavefronts") "\t" \
    count("tensor_core_operations") "\t" count("async_copy_bytes") "\t" count("block_barriers") "\t" \
    count("divergent_branches") "\t" \
    (field("dram_read_bytes") == "" ? "" : count_text(field("dram_read_bytes") + field("dram_write_bytes"), " "))
}
function count(column) { return field(column) == "" ? "" : count_text(field(column), " ") }
END {
  for (t = 1; t <= tables; t++) {
    print (t > 1 ? "\n" : "") text[t] "\n"
    header("step\tglobal loads, sectors\tfor each request\tglobal stores, sectors\tshared loads, wavefronts" \
      "\tshared stores, wavefronts\ttensor-core operations\tcp.async bytes\tblock barriers\tdivergent branches\tDRAM bytes", 1)
    for (i = 1; i <= size[t]; i++) row(lines[t, i])
  }
  origin()
}
