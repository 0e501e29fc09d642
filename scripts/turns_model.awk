# A model of two consumers that share the tensor cores and the exponential units of a multiprocessor, for step 14:
#   awk -f scripts/turns_model.awk
#
# For its 64 x 128 scores of a key block a consumer needs two products of 4 x head_dim clocks on the tensor cores, and 512
# clocks on the exponential units. Without turns each unit divides its rate among all consumers that want it. With turns
# the tensor cores take products in the order in which they were queued. All else, such as max and sum, costs nothing.
# The result is the share of the time in which the tensor cores are busy.
BEGIN {
  BLOCKS = 40       # key blocks of a consumer
  TICK = 8          # clocks
  SOFTMAX = 512
  for (dim = 64; dim <= 128; dim *= 2)
    printf "head_dim %3d: tensor cores busy in step 12 %.0f %%, in 13 %.0f %%, in 14 %.0f %% of the time\n",
           dim, busy_percent(dim, 0, 0), busy_percent(dim, 1, 0), busy_percent(dim, 1, 1)
}

# overlap: whether O += P V of a block and S of the next one are queued together, as from step 13 on.
function busy_percent(dim, overlap, turns,  c, time, ended, wanting) {
  product = 4 * dim
  busy = places = 0
  for (c = 1; c <= 2; c++) {
    queued[c] = done[c] = block[c] = 0
    state[c] = "begin"
  }
  for (time = TICK; ended < 2; time += TICK) {
    for (c = 1; c <= 2; c++) {
      if (state[c] == "begin") {
        queue(c) # S of this block
        scores[c] = queued[c]
        if (overlap && block[c]) queue(c) # O += P V of the block before
        state[c] = "wait for S"
      }
      if (state[c] == "wait for S" && done[c] >= scores[c]) {
        state[c] = "softmax"
        exponentials[c] = SOFTMAX
      }
      if (state[c] == "softmax" && exponentials[c] <= 0) {
        if (!overlap) queue(c) # O += P V of this block
        state[c] = "wait for O"
      }
      if (state[c] == "wait for O" && done[c] >= queued[c]) {
        state[c] = ++block[c] < BLOCKS ? "begin" : "end"
        if (state[c] == "end") ended++; else c-- # the next block begins in the same tick
      }
    }
    multiply(turns)
    wanting = (state[1] == "softmax") + (state[2] == "softmax")
    for (c = 1; c <= 2; c++) if (state[c] == "softmax") exponentials[c] -= TICK / wanting
  }
  return 100 * busy / time
}

function queue(c) {
  left[c, ++queued[c]] = product
  place[c, queued[c]] = ++places
}

# One tick of the tensor cores.
function multiply(turns,  c, first, wanting) {
  for (c = 1; c <= 2; c++) if (done[c] < queued[c]) wanting++
  if (!wanting) return
  busy += TICK
  for (c = 1; c <= 2; c++)
    if (done[c] < queued[c] && (!first || place[c, done[c] + 1] < place[first, done[first] + 1])) first = c
  for (c = 1; c <= 2; c++)
    if (done[c] < queued[c] && (!turns || c == first))
      if ((left[c, done[c] + 1] -= turns ? TICK : TICK / wanting) <= 0) done[c]++
}
