# Lines of the efficiency of the steps for several GPUs by length: the time of one GPU, divided by the number of GPUs and
# by their time. A panel without a mask and one with a causal mask, and a line for each number of GPUs that was measured.
# Dotted lines are the model of scripts/group_model.awk, for as many GPUs as were measured and for 64; the last of them is
# for a bandwidth that is quoted.
{ model_read() }
timed() && field("efficiency") != "" && field("gpus") > 1 && field("variant") == "" && wanted(field("step")) {
  measured[field("gpus") + 0]
  put_shape(field("causal"), (is_step(field("step")) ? drawn_name() : readable(field("step"))) ", " field("gpus") " GPUs", field("seq_kv"), 100 * field("efficiency"), in_percent("efficiency_low"), in_percent("efficiency_high"), 1, field("heads"), throttled())
  subtitle = "heads " field("heads") ", head_dim " field("head_dim") ", " field("dtype")
}
# Older records have no interval of the efficiency.
function in_percent(column) { return field(column) == "" ? "" : 100 * field(column) }
function add_model(causal, name, gpus, gb_per_s,  j, points) {
  points = ""
  for (j = 1; j <= lengths; j++)
    if ((causal, seq[j]) in one) points = points point(seq[j], model_efficiency(one[causal, seq[j]], seq[j], gpus, gb_per_s))
  if (points != "") add_line(name, 0, points)
}
END {
  lengths = sort_numbers(x_set, seq)
  if (!lengths) {
    nothing("No step for several GPUs was right and timed.")
    exit
  }
  contenders = sort_names(name_set, step)
  # The style of a step or a peer gives the same marker to each number of GPUs, and to all peers here.
  markers = split("6 7 4 5 8 9 10 11 12 13 14 15 1 2 3", marker, " ")
  for (i = 1; i <= contenders; i++) marker_of[step[i]] = marker[(i - 1) % markers + 1]
  find_range()
  if (model_link()) subtitle = subtitle sprintf("; link %.0f GB/s measured, %d GB/s between hosts quoted", link, QUOTED_GB_PER_S)
  words(subtitle, "100 % is as fast as the GPUs together can be if each is as fast as one alone. Dotted lines are computed.")
  for (causal = 0; causal <= 1; causal++) {
    add_lines(causal, step, contenders, seq, lengths)
    if (link) {
      for (gpus = 2; gpus < 64; gpus++) if (gpus in measured) add_model(causal, "model, " gpus " GPUs", gpus, link)
      add_model(causal, "model, 64, quoted link", 64, QUOTED_GB_PER_S)
    }
    end_panel(causal ? ", causal" : ", not causal", 0, 110, 1)
  }
  print_lines(seq, lengths)
}
