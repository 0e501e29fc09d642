// What order.c and order_between.c know of the running launch and of the blocks of the running cluster. A cooperative
// grid counts as one, and its barrier as that of a cluster.
#ifndef SANITIZE_ORDER_STATE_H
#define SANITIZE_ORDER_STATE_H

#include "order.h"

typedef struct {
  uint32_t start;    // stamp of its first accesses
  uint32_t atomic;   // of its last atomic operation on global memory
  uint32_t fence;    // of its last fence
  uint32_t released; // of the last fence that an atomic operation on global memory has come behind
  uint32_t met;      // of the last atomic operation on global memory before its last barrier
  uint32_t acquired; // of the last one that acquires, or that the thread of a fence knew of
} order_block_times;

typedef struct {
  const launch *running;
  unsigned cluster_blocks; // of each cluster, or of a cooperative grid; 1 in an ordinary launch
  uint32_t start;          // of the launch
  uint32_t
      unordered; // accesses from then on to `start`, of the kernel before, may come at the same time
  bool follows;  // the next launch comes right behind this one
  uint32_t cluster_start;   // of the running cluster, or the running block
  uint32_t relaxed;         // of the last relaxed arrival at a barrier of a cluster
  order_block_times *times; // of the launch's blocks so far, those of a cluster by their ranks
  size_t count, room;
} order_launch_state;

#define ORDER_RUNNING UINT32_MAX // beyond what an enumerator can be

// known[a] is a stamp: actor a's accesses up to it come before the present access of the clock's thread. For a thread a,
// known[FENCED + a] is that of the accesses which a fence.proxy.async stands behind as well, on the way from a to the
// clock's thread. Values from earlier blocks are too small to matter.
// Clocks begin and end at cache lines, because joining them takes a good part of the sanitizer's time.
enum {
  LINE_STAMPS = 16,
  FENCED = (ACTORS_MAX + LINE_STAMPS - 1) / LINE_STAMPS * LINE_STAMPS,
  CLOCK_STAMPS = FENCED + BLOCK_THREADS_MAX
};
typedef struct {
  _Alignas(LINE_STAMPS * sizeof(uint32_t)) uint32_t known[CLOCK_STAMPS];
} actor_clock;

typedef struct {
  const void *address;
  // The clocks of all arrivals, and of those up to the last phase's end. An arrival passes on those before
  // it, since all change the same word, one after the other (PTX ISA, "Release and Acquire Patterns").
  actor_clock arriving, complete;
  unsigned copier; // the thread that started the last copy
  // The last copy whose bytes have arrived: the thread that started it, and the stamps of its start and of their arrival.
  unsigned carrier;
  uint32_t carried_from, carried_to;
} barrier_clock;

// A block of the running cluster; the running block of an ordinary launch is the first.
typedef struct {
  bool used;        // by any launch
  uint32_t barrier; // accesses of this block up to this stamp are ordered by a barrier
  uint32_t left_after
      [BLOCK_THREADS_MAX]; // the last barrier a thread came to before its end, or ORDER_RUNNING
  actor_clock threads[BLOCK_THREADS_MAX];
  // The same for all threads since the last block barrier, and whether a thread has learned more since then.
  uint32_t block_fenced[BLOCK_THREADS_MAX];
  bool learned[BLOCK_THREADS_MAX];
  uint32_t proxy_fence; // stamp of the last one of any thread
  // met[t][l]: the stamp at which t last met lane l of its warp in a warp function.
  uint32_t met[BLOCK_THREADS_MAX][GPU_WARP_LANES];
  uint32_t warp_atomic[ACTORS_MAX / GPU_WARP_LANES + 1];
  uint32_t global_atomic[BLOCK_THREADS_MAX]; // of each thread's last one on global memory
  barrier_clock barriers[ORDER_BARRIERS_MAX];
  unsigned barrier_count;
  uint32_t group_stamp[WARPGROUPS_MAX][GROUPS_MAX];
  bool spread; // threads may know of other warps' accesses
} order_block_state;

// Hidden, because the compiler would look up their addresses at each use otherwise.
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN uint32_t order_time;
extern HIDDEN order_launch_state order_launch;
extern HIDDEN order_block_state order_blocks[CLUSTER_BLOCKS_MAX], *order_own;

static inline void order_join_stamps(uint32_t *restrict sum, const uint32_t *restrict more,
                                     unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    sum[i] = more[i] > sum[i] ? more[i] : sum[i];
  }
}

// Whether the cluster's barrier orders the accesses of another block's thread, with the fences behind them, before the
// present access of a thread of the running block.
bool order_fenced_in_cluster(const past_access *past, unsigned thread);

// The block's barrier opens: its threads know of each other's atomic operations.
void order_atomics_met(void);

void order_cluster_restart(void);

#endif
