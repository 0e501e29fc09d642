// The stamps of a build with LAB_TIMELINE, as the kernels write them (kernel/timeline.cuh) and the host reads them.
#ifndef TIMELINE_H
#define TIMELINE_H

#include <cuda_runtime_api.h>

enum {
  TIMELINE_WARPS = 64,      // the most that a multiprocessor holds
  TIMELINE_SLOT_CLOCKS = 4, // a warp writes no two events within so many clocks
};

// The kinds of events. A wait has a begin and an end; the others are moments.
typedef enum {
  TIMELINE_NOTHING,
  TIMELINE_BARRIER_WAIT, // for an mbarrier: a tile has arrived, or a stage is empty
  TIMELINE_COPY,         // a copy, or a group of them, was issued
  TIMELINE_COPY_WAIT,    // for copies of the thread's own
  TIMELINE_TURN_WAIT,    // at a named barrier
  TIMELINE_BLOCK_WAIT,   // __syncthreads()
  TIMELINE_SOFTMAX, // a row max is taken over lanes, so the product of Q and K by mma.sync is complete
  TIMELINE_OUTPUT,         // a fragment of V is loaded for a product by mma.sync
  TIMELINE_PRODUCT,        // wgmma.fence: a product of either kind is about to be queued
  TIMELINE_PRODUCT_WAIT,   // until all groups are complete
  TIMELINE_PRODUCT_WAIT_1, // until at most one is under way
  TIMELINE_STORE,          // rows of O are stored
  TIMELINE_QUEUE_SCORES, // TIMELINE_PRODUCT of Q and K, and of P and V: not as kernels write it, see stretch.h
  TIMELINE_QUEUE_OUTPUT,
  TIMELINE_KINDS,
  TIMELINE_BEGIN_OF_WARP = 31, // `who` says which warp it is
} timeline_kind;

typedef struct {
  unsigned begin, end; // clocks of the multiprocessor, modulo 2^32
  unsigned what;       // timeline_site_number << 5 | timeline_kind
  unsigned
      who; // of TIMELINE_BEGIN_OF_WARP: number of the block << 5 | warp; else number of the event, or 0
} timeline_event;

// Where events go: [multiprocessors][TIMELINE_WARPS][1 + slots], for multiprocessors from `first` on. Each warp of a
// multiprocessor has a ring of `slots` slots, a power of two, in which a slot stands for TIMELINE_SLOT_CLOCKS clocks. So
// a later event may take the place of an earlier one. Gaps in the numbers of the events show the loss; where they have
// none, the slot before the ring has in its first word how many were written.
typedef struct {
  timeline_event *events;
  unsigned first, multiprocessors;
  unsigned slots;
  unsigned
      warps_between; // 0: all warps of a block write; 3: every fourth, the first of each warp group
} timeline_plan;

// A place in the source as 27 bits: a 14-bit hash of the file's name without its folder, and the line, up to 8191. The
// kernels compute it when they are compiled, and the host when it reads the events.
#if defined(__CUDACC__)
#define TIMELINE_CONSTANT __host__ __device__ constexpr
#elif defined(__cplusplus)
#define TIMELINE_CONSTANT constexpr
#else
#define TIMELINE_CONSTANT static inline
#endif
TIMELINE_CONSTANT unsigned timeline_site_number(const char *file, int line) {
  unsigned hash = 0;
  for (int i = 0; file[i]; i++)
    hash = file[i] == '/' ? 0 : (hash * 31 + (unsigned char)file[i]) & 0x3fff;
  return hash << 13 | ((unsigned)line < 8191 ? (unsigned)line : 8191);
}

#endif
