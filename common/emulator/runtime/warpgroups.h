// What a warpgroup has started on the tensor cores and not waited for, and its registers.
//
// Its 128 threads start products one after the other, each with its own registers. The first thread to
// start one enters it here, and the others join. So too with groups: they are numbered from 0, and one may
// be executed once all threads have committed it.
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
  GROUPS_MAX = 16, // that a warpgroup can have between the first start and the last wait
  ACCUMULATORS_MAX = 8
};

// A matrix D on its way: the tensor cores have it until each thread has waited for the last product that adds
// to it.
typedef struct {
  float sum[PRODUCT_ROWS][PRODUCT_COLUMNS_MAX]; // rows of `columns`, without gaps
  unsigned columns;
  float *d[WARPGROUP_THREADS]; // each thread's registers while they are filled with NaN, else NULL
  uint64_t last[WARPGROUP_THREADS]; // the group of the thread's last product
  unsigned delivered;               // threads that have theirs back
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
  unsigned committed; // threads
  unsigned waited;    // threads
} product_group;

typedef struct warpgroup {
  uint64_t executed;                           // groups
  product_group groups[GROUPS_MAX];            // group g is groups[g % GROUPS_MAX]
  accumulator *accumulators[ACCUMULATORS_MAX]; // NULL where none was needed yet
  unsigned registers;                          // of each thread
  unsigned asked;  // the number that those of its threads have that are at setmaxnreg
  unsigned asking; // how many of them
} warpgroup;

// The operands of the product that is being done: too much for the stack of a fiber.
typedef struct {
  float a[PRODUCT_ROWS][PRODUCT_DEPTH];
  float b[PRODUCT_DEPTH * PRODUCT_COLUMNS_MAX]; // rows of as many columns as D has
  uint16_t b_bits[PRODUCT_DEPTH * PRODUCT_COLUMNS_MAX];
} product_operands;

// A thread's part of that.
typedef struct {
  uint64_t group;   // that it adds products to; it has committed those before
  uint64_t waited;  // groups
  unsigned started; // products of the group
} thread_products;

#endif
