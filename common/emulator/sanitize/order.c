#define _GNU_SOURCE
#include "order.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  uint32_t start;  // stamp of its first accesses
  uint32_t atomic; // of its last atomic operation on global memory
} block_times;

static uint32_t now = 1;
static uint32_t launch_start, block_start;
static uint32_t barrier; // what has this stamp, or an earlier one of this block, is ordered
// known[t][l]: up to this stamp, accesses by lane l of t's warp come before what t does now. Values
// from earlier blocks are too small to matter.
static uint32_t known[BLOCK_THREADS_MAX][GPU_WARP_LANES];
static uint32_t warp_atomic[WARPS_MAX];
static block_times *blocks;
static size_t block_count, block_room;

uint32_t order_now(void) { return now; }

void order_launch_begin(void) {
  launch_start = ++now;
  block_start = now;
  block_count = 0;
}

void order_block_begin(void) {
  if (block_count == block_room) {
    block_room = block_room > 0 ? 2 * block_room : 1024;
    blocks = realloc(blocks, block_room * sizeof *blocks);
    if (blocks == NULL) {
      fprintf(stderr, "error: no memory for the times of %zu blocks\n", block_room);
      abort();
    }
  }
  barrier = now;
  block_start = ++now;
  blocks[block_count++] = (block_times){.start = now};
}

void order_block_barrier(void) { barrier = now++; }

void order_warp_barrier(unsigned first, unsigned lanes) {
  uint32_t joined[GPU_WARP_LANES] = {0};
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      const uint32_t stamp = known[first + lane][other];
      if (stamp > joined[other]) joined[other] = stamp;
    }
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) joined[lane] = now;
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      known[first + lane][other] = joined[other];
    }
  }
  now++;
}

void order_atomic(unsigned thread, bool global) {
  now++;
  warp_atomic[thread / GPU_WARP_LANES] = now;
  if (global) blocks[block_count - 1].atomic = now;
}

static size_t block_index(uint32_t stamp) {
  size_t low = 0, high = block_count; // blocks[low].start <= stamp < blocks[high].start
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (blocks[middle].start <= stamp) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t order_block_number(uint32_t stamp) { return block_index(stamp); }

bool order_in_running_launch(uint32_t stamp) { return stamp >= launch_start; }

bool order_in_running_block(uint32_t stamp) { return stamp >= block_start; }

bool order_before(const past_access *past, unsigned thread) {
  const uint32_t stamp = past->stamp;
  if (stamp < launch_start) return true;
  if (stamp < block_start) {
    return blocks[block_count - 1].atomic > stamp && blocks[block_index(stamp)].atomic > stamp;
  }
  if (stamp <= barrier || past->thread == thread) return true;
  const unsigned warp = thread / GPU_WARP_LANES, past_warp = past->thread / GPU_WARP_LANES;
  if (warp == past_warp && stamp <= known[thread][past->thread % GPU_WARP_LANES]) return true;
  return warp_atomic[warp] > stamp && warp_atomic[past_warp] > stamp;
}

bool order_exhausted(void) { return now > UINT32_MAX / 2; }

void order_restart(void) {
  now = 1;
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) known[i][lane] = 0;
  }
  for (unsigned i = 0; i < WARPS_MAX; i++) warp_atomic[i] = 0;
}
