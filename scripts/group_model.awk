# A model of step 23 on several GPUs, from the rows of groups.csv:
#
#   time = max(T / P, C 7 / 8) + C / 8 + m         T  time of one GPU, measured
#   C    = bytes that reach a rank / bandwidth     an eighth of the copies is waited for, the rest runs beside the products
#   m                                              of the meeting: what an exchange takes beside its bytes
#
# Bandwidth and m come from the exchange alone on the fewest GPUs, at the longest and at the shortest length. Between hosts
# the bandwidth is quoted: 50 GB/s for each GPU (NDR InfiniBand, 400 Gbit/s), and a GPU receives most of its bytes from
# other hosts.
BEGIN { QUOTED_GB_PER_S = 50 }

# Takes a row: the exchange alone, or the time of one GPU.
function model_read(  causal, seq) {
  causal = field("causal") + 0
  seq = field("seq_kv") + 0
  if (field("step") == "exchange_alone") {
    if (link_gpus != "" && field("gpus") + 0 > link_gpus) return
    if (field("gpus") + 0 != link_gpus) {
      link_gpus = field("gpus") + 0
      short_seq = long_seq = ""
    }
    if (short_seq == "" || seq < short_seq) {
      short_seq = seq
      short_ms = field("median_ms")
      short_bytes = field("arriving_bytes")
    }
    if (long_seq == "" || seq > long_seq) {
      long_seq = seq
      long_ms = field("median_ms")
      long_bytes = field("arriving_bytes")
    }
  } else if (timed() && field("gpus") == 1 && is_step(field("step"))) {
    one[causal, seq] = field("median_ms")
    row_bytes = 4 * field("kv_heads") * field("head_dim") # of a row of K and of V
    if (seq > longest_one[causal]) longest_one[causal] = seq
  }
}

# Finds the bandwidth in GB/s, and m in milliseconds. Returns the bandwidth, or 0 where two lengths do not tell it.
function model_link() {
  if (!(long_bytes > short_bytes && long_ms > short_ms)) return 0
  link = (long_bytes - short_bytes) / (long_ms - short_ms) * 1e-6
  meeting = short_ms - short_bytes / link * 1e-6
  if (meeting < 0) meeting = 0
  return link
}

# The efficiency in percent, where one GPU takes one_ms.
function model_efficiency(one_ms, seq, gpus, gb_per_s,  copies, products, beside) {
  copies = row_bytes * seq * (gpus - 1) / gpus / gb_per_s * 1e-6
  products = one_ms / gpus
  beside = copies * 7 / 8
  return 100 * products / ((products > beside ? products : beside) + copies / 8 + meeting)
}

# The shortest length, in steps of an eighth, from which on the efficiency is at least so many percent. The time of one GPU
# is that of the longest measured length, and grows with the square of the length. "" where there is no measured time.
function model_length(percent, causal, gpus, gb_per_s,  seq, longest) {
  longest = longest_one[causal]
  if (!longest) return ""
  for (seq = 1024; seq < 2 ^ 30; seq *= 2 ^ 0.125)
    if (model_efficiency(one[causal, longest] * (seq / longest) ^ 2, seq, gpus, gb_per_s) >= percent) return seq
  return ""
}
