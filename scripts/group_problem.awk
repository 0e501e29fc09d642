# The problem of a row of a step for several GPUs, for the tables of its variants and substeps. Returns its key, and notes
# in place and text which problems there are, in their order, and what to call each.
function group_problem(  p) {
  p = field("seq_kv") SUBSEP field("causal") SUBSEP field("gpus")
  if (p in text) return p
  place[++problems] = p
  text[p] = field("gpus") " GPUs, heads " field("heads") ", seq " field("seq_kv") ", head_dim " field("head_dim") ", " \
    field("dtype") (field("causal") == 1 ? ", causal" : "")
  return p
}
