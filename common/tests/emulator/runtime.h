// Kernels without a fault, for test_runtime.c. Only the emulator runs them.
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// A launch without a fault; true when its result is right.
bool healthy_launch(void);

// A warp some of whose lanes exit while the others wait for them: lane i of `got` (32 ints) becomes the
// value that it reads from lane (i + 1) % 32, once the active lanes no longer include those that exited.
void read_from_exited_lanes(int *got, unsigned *active);

// The lanes of a warp that elect.sync elects.
unsigned elected_lanes(void);

// Lanes poll for a value that a lane writes once it knows the active lanes. True when the kernel ends.
bool active_mask_while_polling(void);

// Launches 5 blocks of one thread; order[i] becomes the block that ran as number i.
void record_order_of_blocks(int *order);

// Launches 3 blocks of 40 threads; order[40 * block + i] becomes the thread that ran as number i.
void record_order(int *order);

// Counts the reads of uninitialised shared and device memory, in 4 blocks, that are not NaN.
int readable_garbage(void);

#ifdef __cplusplus
}
#endif
#endif
