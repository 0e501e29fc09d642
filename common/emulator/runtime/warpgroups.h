// The products that a warpgroup has started on the tensor cores and not yet waited for, and its registers.
//
// Its 128 threads start a product one after the other, each with its own registers. The first
// thread to start a product adds it here, and the others join it. Groups work in the same
// way: they are numbered from 0, and a group may run once all threads have committed it.
#ifndef WARPGROUPS_H
#define WARPGROUPS_H

#include "gpu.h"
#include "stacks.h"
#include "warpgroup.h"

enum {
  WARPGROUP_THREADS = 4 * GPU_WARP_LANES,
  WARPGROUPS_MAX = BLOCK_THREADS_MAX / WARPGROUP_THREADS,
  PRODUCT_ROWS = 64,
  PRODUCT_DEPTH = 16,
  PRODUCT_COLUMNS_MAX = 256,
  GROUPS_MAX = 16, // groups that a warpgroup may have between the first start and the last wait
  ACCUMULATORS_MAX = 8,
  ALIGNED_MAX = 64 // instructions that a thread may be ahead of another one of its warpgroup
};

// A matrix D in use: it belongs to the tensor cores until each
// thread has waited for the last product that adds to it.
typedef struct {
  float sum[PRODUCT_ROWS][PRODUCT_COLUMNS_MAX]; // rows of `columns`, without gaps
  unsigned columns;
  float *d[WARPGROUP_THREADS]; // each thread's registers while they are filled with NaN, else NULL
  uint64_t last[WARPGROUP_THREADS]; // the group of the thread's last product
  unsigned delivered;               // threads that have received their part
  bool taken;
} accumulator;

typedef struct {
  emulator_warpgroup_product first; // as the first thread gives it
  emulator_site site;
  const unsigned *a[WARPGROUP_THREADS]; // each thread's registers of A
  accumulator *sum;
} warpgroup_product;

typedef struct {
  warpgroup_product *products; // the memory is kept
  unsigned count, room;
  unsigned committed; // number of threads
  unsigned waited;    // number of threads
} product_group;

// An instruction that all threads of a warpgroup must execute together.
typedef struct {
  uint64_t number;    // of the thread's such instructions
  emulator_site site; // as the first thread comes to it
  unsigned threads;   // that have come to it; 0 once all have
} aligned_instruction;

typedef struct warpgroup {
  uint64_t executed;                           // number of groups
  product_group groups[GROUPS_MAX];            // group g is groups[g % GROUPS_MAX]
  accumulator *accumulators[ACCUMULATORS_MAX]; // NULL where none was needed yet
  aligned_instruction aligned[ALIGNED_MAX];    // instruction n is aligned[n % ALIGNED_MAX]
  unsigned registers;                          // of each thread
  unsigned asked;                              // the number that its threads at setmaxnreg ask for
  unsigned asking;                             // how many threads ask
} warpgroup;

// The operands of the product that is being computed; they are too large for the stack of a fiber.
typedef struct {
  float a[PRODUCT_ROWS][PRODUCT_DEPTH];
  float b[PRODUCT_DEPTH * PRODUCT_COLUMNS_MAX]; // rows of as many columns as D has
  uint16_t b_bits[PRODUCT_DEPTH * PRODUCT_COLUMNS_MAX];
} product_operands;

// One thread's view of its warpgroup's products.
typedef struct {
  uint64_t group;       // the group to which it adds products; it has committed those before
  uint64_t waited;      // number of groups
  unsigned started;     // products of the group
  uint64_t aligned;     // instructions that the warpgroup executes together
  bool in_turn;         // it has waited at a named barrier, and arrived at none since
  uint64_t before_turn; // `group` when it passed that barrier
} thread_products;

// Called where a block begins.
void aligned_begin(warpgroup *warpgroup);

// Called by a thread for each instruction that its warpgroup must execute together, but for the start of a product, of
// which products.c compares more. A fault where another thread has come to another line.
void aligned_come(warpgroup *warpgroup, thread_products *own, const emulator_site *site);

#endif
