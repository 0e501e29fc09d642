# Looks at files before anything is drawn of them: awk -f scripts/csv.awk -f plots/columns.awk -v command=... FILE
# A file that is empty, has no row, lacks a column that charts read, or holds a row with other fields than its header
# names ends with status 2 and a sentence; csv.awk refuses what is no number.
BEGIN {
  shape = "step device dtype batch heads kv_heads seq_q seq_kv head_dim causal"
  timed_columns = shape " check median_ms tflops"
  columns["ladder"] = columns["bench"] = columns["peers"] = timed_columns
  columns["sweep"] = timed_columns " configuration"
  columns["spread"] = timed_columns " score_deviation rising"
  columns["samples"] = shape " microseconds"
  columns["quoted"] = shape " tflops"
  columns["timeline"] = shape " plain_ms stamped_ms all_stamped_ms stretch block warp begin end kind key_block file line"
  columns["ceilings"] = "name value vendor_value"
  columns["counts"] = shape " source global_load_sectors global_store_sectors shared_load_wavefronts" \
    " shared_store_wavefronts async_copy_bytes tensor_core_operations block_barriers dram_read_bytes dram_write_bytes"
}
!checked {
  checked = 1
  kind = file ~ /-samples$/ ? "samples" : file
  sub(/-.*/, "", kind)
  list = kind in columns ? columns[kind] : timed_columns # a name that the reader gave
  if (kind == "ladder" && "blocks" in position) # the emulator's
    list = shape " check workspace_bytes blocks block_barriers"
  for (i = split(list, name, " "); i > 0; i--)
    if (!(name[i] in position)) absent = name[i] (absent == "" ? "" : ", ") absent
  if (absent != "") wrong("it has no column " absent)
}
{
  fields = 0
  for (i in position) if (position[i] > fields) fields = position[i]
  if (NF != fields) wrong("its line " FNR " has " NF " fields, and its first one names " fields " columns")
}
END {
  if (checked || refused) exit refused
  if (!header_read) wrong("it is empty, and its columns, such as step, are not named")
  wrong("it has no row below the names of its columns, of which the first is " first_column())
}
function first_column(  i) { for (i in position) if (position[i] == 1) return i }
function wrong(why) {
  why = why ": record it again" (command == "" ? "" : " (" command ")")
  print "error: " ARGV[1] " cannot be drawn: " why >"/dev/stderr"
  exit refused = 2
}
