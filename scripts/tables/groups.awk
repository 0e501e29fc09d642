# Steps for several GPUs and the products alone by length, as measured, and the lengths that step 23 needs at the least to
# use 95 % of P GPUs, by the model of scripts/group_model.awk. Last the model beside what was measured.
# Arguments: DEVICE
# Data: groups.csv (make groups)
# With: groups-torch.csv
# Awk: scripts/group_model
{ model_read() }
timed() && field("efficiency") != "" && field("gpus") > 1 && field("variant") == "" {
  gpus = field("gpus") + 0
  if (!(gpus in size_seen)) {
    size_seen[gpus]
    size[++sizes] = gpus
  }
  name = readable(field("step")) "\t" field("seq_kv") "\t" (field("causal") == 1 ? "yes" : "no")
  if (!(name in line_seen)) {
    line_seen[name]
    line[++measured] = name
  }
  cells[name, gpus] = time_cell() "\t" percent_cell("efficiency")
  if (field("step") ~ /^23_/) hidden[field("seq_kv") + 0, field("causal") + 0, gpus] = percent_cell("efficiency")
  lengths[field("seq_kv") + 0]
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
  names = "step\tseq\tcausal"
  for (j = 1; j <= sizes; j++) names = names "\t" size[j] " GPUs: ms [95 %]\tefficiency"
  header(names, 1)
  for (i = 1; i <= measured; i++) {
    text = line[i]
    for (j = 1; j <= sizes; j++) text = text "\t" ((line[i], size[j]) in cells ? cells[line[i], size[j]] : "\t")
    row(text)
  }
  origin()
  if (!model_link()) exit
  printf "\nComputed for step 23: the length that it needs at the least for an efficiency of 95 %%. The model assumes a link of %.0f GB/s by the copies alone on %d GPUs," \
    " %.0f µs for the start of an exchange, and %d GB/s for each GPU between hosts, which is quoted and not measured.\n\n", link, link_gpus, 1000 * meeting, QUOTED_GB_PER_S
  header("GPUs\thosts\tlink\tseq at least\tcausal: seq at least", 1)
  for (gpus = 2; gpus <= 64; gpus *= 2) {
    hosts = gpus <= 8 ? 1 : gpus / 8
    speed = hosts == 1 ? link : QUOTED_GB_PER_S
    row(gpus "\t" hosts "\t" sprintf("%.0f GB/s%s", speed, hosts == 1 ? "" : ", quoted") "\t" length_cell(0, gpus, speed) "\t" \
      length_cell(1, gpus, speed))
  }
  print "\nEfficiency of step 23 by the model and as measured:\n"
  names = "seq\tcausal"
  for (j = 1; j <= sizes; j++) names = names "\t" size[j] " GPUs: model\tmeasured"
  header(names, 0)
  count = sort_numbers(lengths, length_at)
  for (i = 1; i <= count; i++)
    for (causal = 0; causal <= 1; causal++) {
      if (!((causal, length_at[i]) in one)) continue
      text = length_at[i] "\t" (causal ? "yes" : "no")
      for (j = 1; j <= sizes; j++)
        text = text "\t" sprintf("%.1f %%", model_efficiency(one[causal, length_at[i]], length_at[i], size[j], link)) "\t" \
          hidden[length_at[i], causal, size[j]]
      row(text)
    }
}
