# Lines of the efficiency of the steps for several GPUs by length: the time of one GPU, divided by the number of GPUs and
# by their time. A panel without a mask and one with a causal mask. Dotted lines are a model of the last step:
#
#   time = max(T / P, C 7 / 8) + C / 8 + m         T  time of one GPU, measured at this length
#   C    = bytes that reach a rank / bandwidth     an eighth of the copies is waited for, the rest runs beside the products
#   m                                              of the meeting: what an exchange takes beside its bytes
#
# Bandwidth and m come from the exchange alone, at the longest and at the shortest length. Between hosts the bandwidth is
# quoted: 50 GB/s for each GPU (NDR InfiniBand, 400 Gbit/s), and a GPU receives most of its bytes from other hosts.
field("step") == "exchange_alone" {
  if (shortest == "" || field("seq_kv") + 0 < shortest) {
    shortest = field("seq_kv") + 0
    short_ms = field("median_ms")
    short_bytes = field("arriving_bytes")
  }
  if (field("seq_kv") + 0 > longest_seq) {
    longest_seq = field("seq_kv") + 0
    long_ms = field("median_ms")
    long_bytes = field("arriving_bytes")
  }
  next
}
timed() && field("gpus") == 1 && is_step(field("step")) {
  one[field("causal"), field("seq_kv")] = field("median_ms")
  # of K and V of all heads
  bytes[field("seq_kv")] = 4 * field("heads") * field("head_dim") * field("seq_kv")
  next
}
timed() && field("efficiency") != "" && wanted(field("step")) {
  put_shape(field("causal"), drawn_name(), field("seq_kv"), 100 * field("efficiency"), "", "", 1, field("heads"), 0)
  subtitle = field("gpus") " GPUs, heads " field("heads") ", head_dim " field("head_dim") ", " field("dtype") "; the model for 2 to 64"
}
function model(causal, seq, gpus, gb_per_s,  copies, products, beside) {
  copies = bytes[seq] * (gpus - 1) / gpus / gb_per_s * 1e-6 # milliseconds
  products = one[causal, seq] / gpus
  beside = copies * 7 / 8
  return 100 * products / ((products > beside ? products : beside) + copies / 8 + meeting)
}
function add_model(causal, name, gpus, gb_per_s,  j, points) {
  points = ""
  for (j = 1; j <= lengths; j++)
    if ((causal, seq[j]) in one) points = points point(seq[j], model(causal, seq[j], gpus, gb_per_s))
  if (points != "") add_line(name, 0, points)
}
END {
  lengths = sort_numbers(x_set, seq)
  if (!lengths) {
    nothing("No step for several GPUs was right and timed.")
    exit
  }
  contenders = sort_names(name_set, step)
  find_range()
  words(subtitle, "100 % is as fast as the GPUs together can be if each is as fast as one alone. Dotted lines are computed.")
  if (long_bytes > short_bytes && long_ms > short_ms) {
    link = (long_bytes - short_bytes) / (long_ms - short_ms) * 1e-6
    meeting = short_ms - short_bytes / link * 1e-6
    if (meeting < 0) meeting = 0
  }
  for (causal = 0; causal <= 1; causal++) {
    add_lines(causal, step, contenders, seq, lengths)
    if (link) {
      add_model(causal, "model, 2 GPUs", 2, link)
      add_model(causal, "model, 8 GPUs", 8, link)
      add_model(causal, "model, 64 on 8 hosts", 64, 50)
    }
    end_panel(causal ? ", causal" : ", not causal", 0, 110, 1)
  }
  print_lines(seq, lengths)
}
