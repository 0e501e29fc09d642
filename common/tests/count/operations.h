// Kernels of one warp or warp group each, whose counts are easily taken for others: copies of which a part is zeros, atomic
// operations, memory that is not of cudaMalloc, products, calls.
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// False when the kernel fails.
bool operations_run_zeros(
    void); // 16 lanes copy 16 bytes each by cp.async, and 16 lanes 4 bytes and 12 of zeros
bool operations_run_box(void);     // a box of 64 x 64 halves of a tensor with 20 x 64
bool operations_run_atomics(void); // adds, compares, exchanges and stores
bool operations_run_others(void);  // from managed memory to pinned memory of the host
bool operations_run_product(void); // one of 64 x 64 x 16
bool operations_run_pieces(
    void); // half of the lanes copy 4 bytes, the others 8 bytes, in one call of memcpy
bool operations_run_call(void); // half of the lanes call a function that lies behind the kernel

// A warp stores a matrix of 8 x 32 floats.
bool operations_run_wide(bool column_major);

#ifdef __cplusplus
}
#endif
#endif
