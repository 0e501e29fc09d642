# A model of step 23 on several GPUs, from the rows of groups.csv:
#
#   T, P   time of one GPU, measured, and the number of GPUs; a slice of s heads takes T / P * s / (all heads)
#   C      bytes that reach a rank / bandwidth; the copies of the slices run one after the other
#   m      of the meeting: what an exchange takes beside its bytes
#
# A slice begins when its copies have come and the slice before it has ended. The slices are those of the step: a quarter
# of the heads, but on two GPUs the first two have an eighth. So the time is T / P + C / 8 + m on two GPUs if T / P is at
# least 1.5 C, and T / P + C / 4 + m on more if T / P is at least C; else a rank waits for further slices as well.
#
# Bandwidth and m come from the fewest GPUs, at the longest and at the shortest length: the bandwidth from the copies alone,
# as the copy engines carry the slices, or in records that lack them from the exchange alone, and m from the exchange
# alone. Between hosts the bandwidth is quoted: 50 GB/s for each GPU (NDR InfiniBand, 400 Gbit/s), and a GPU receives most
# of its bytes from other hosts.
BEGIN { QUOTED_GB_PER_S = 50 }

# Takes a row: the exchange alone, the copies alone, or the time of one GPU.
function model_read(  causal, seq, what) {
  causal = field("causal") + 0
  seq = field("seq_kv") + 0
  what = field("step")
  if (what == "exchange_alone" || what == "copies_alone") {
    if (link_gpus != "" && field("gpus") + 0 > link_gpus) return
    if (field("gpus") + 0 != link_gpus) {
      link_gpus = field("gpus") + 0
      split("", short_seq)
      split("", long_seq)
    }
    if (!(what in short_seq) || seq < short_seq[what]) {
      short_seq[what] = seq
      short_ms[what] = field("median_ms")
      short_bytes[what] = field("arriving_bytes")
    }
    if (!(what in long_seq) || seq > long_seq[what]) {
      long_seq[what] = seq
      long_ms[what] = field("median_ms")
      long_bytes[what] = field("arriving_bytes")
    }
  } else if (timed() && field("gpus") == 1 && is_step(field("step"))) {
    one[causal, seq] = field("median_ms")
    kv_heads = field("kv_heads") * field("batch")
    row_bytes = 4 * kv_heads * field("head_dim") # of a row of K and of V
    if (seq > longest_one[causal]) longest_one[causal] = seq
  }
}

# Returns the GB/s of the exchange alone, or of the copies alone, or 0 where two lengths do not tell it.
function model_rate(what) {
  if (!(long_bytes[what] > short_bytes[what] && long_ms[what] > short_ms[what])) return 0
  return (long_bytes[what] - short_bytes[what]) / (long_ms[what] - short_ms[what]) * 1e-6
}

# Finds the bandwidth in GB/s, and m in milliseconds. Returns the bandwidth, or 0 where it is not known.
function model_link(  exchange) {
  exchange = model_rate("exchange_alone")
  link = model_rate("copies_alone")
  if (!link) link = exchange
  meeting = exchange ? short_ms["exchange_alone"] - short_bytes["exchange_alone"] / exchange * 1e-6 : 0
  if (meeting < 0) meeting = 0
  return link
}

# The efficiency in percent, where one GPU takes one_ms.
function model_efficiency(one_ms, seq, gpus, gb_per_s,  copies, products, quarter, count, first, come, done) {
  copies = row_bytes * seq * (gpus - 1) / gpus / gb_per_s * 1e-6
  products = one_ms / gpus
  quarter = int((kv_heads + 3) / 4)
  count = gpus > 2 ? quarter : int((kv_heads + 7) / 8)
  for (first = 0; first < kv_heads; first += count) {
    if (first) count = first < quarter ? first : quarter
    if (count > kv_heads - first) count = kv_heads - first
    come = copies * (first + count) / kv_heads
    done = (done > come ? done : come) + products * count / kv_heads
  }
  return 100 * products / (done + meeting)
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
