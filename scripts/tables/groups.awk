# Steps for several GPUs and the products alone by length, as measured, and the lengths from which on step 23 uses 95 % of
# P GPUs by the model of scripts/group_model.awk.
# Arguments: DEVICE
# Data: groups.csv (make groups)
# With: groups-torch.csv
# Awk: scripts/group_model
{ model_read() }
timed() && field("efficiency") != "" && field("gpus") > 1 && field("variant") == "" {
  line[++measured] = readable(field("step")) "\t" field("gpus") "\t" field("seq_kv") "\t" (field("causal") == 1 ? "yes" : "no") \
    "\t" time_cell() "\t" percent_cell("efficiency")
  link_share[measured] = field("link_share")
  if (link_share[measured] != "") shares = 1
  shape = "heads " field("heads") ", head_dim " field("head_dim") ", " field("dtype")
}
function length_cell(causal, gpus, gb_per_s,  seq) {
  seq = model_length(95, causal, gpus, gb_per_s)
  return seq == "" ? "" : seq <= 1024 ? "1k or less" : sprintf("%.0fk", seq / 1024)
}
END {
  if (!measured) {
    print "No step for several GPUs was right and timed."
    exit
  }
  print "Measured: " shape ".\n"
  # Older records do not have the share of the link.
  header("step\tGPUs\tseq\tcausal\tms [95 %]\tefficiency" (shares ? "\tof the link" : ""), 1)
  for (i = 1; i <= measured; i++)
    row(line[i] (shares ? "\t" (link_share[i] == "" ? "" : sprintf("%.0f %%", 100 * link_share[i])) : ""))
  origin()
  if (!model_link()) exit
  printf "\nComputed for step 23: from which length on its efficiency is at least 95 %%. It assumes a link of %.0f GB/s as measured on %d GPUs," \
    " %.0f µs for the meeting of the ranks, and %d GB/s for each GPU between hosts, which is quoted and not measured.\n\n", link, link_gpus, 1000 * meeting, QUOTED_GB_PER_S
  header("GPUs\thosts\tlink\t95 % from seq\tcausal: 95 % from seq", 1)
  for (gpus = 2; gpus <= 64; gpus *= 2) {
    hosts = gpus <= 8 ? 1 : gpus / 8
    speed = hosts == 1 ? link : QUOTED_GB_PER_S
    row(gpus "\t" hosts "\t" sprintf("%.0f GB/s%s", speed, hosts == 1 ? "" : ", quoted") "\t" length_cell(0, gpus, speed) "\t" \
      length_cell(1, gpus, speed))
  }
}
