// Kernels with many requests in one basic block, or with matrices that are narrower than others.
#ifndef MATRICES_H
#define MATRICES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// A warp loads a matrix of 16 x 8 elements, whose rows follow each other without a gap: A by columns or B by rows, from
// global or from shared memory. False when the kernel fails.
bool matrices_run_a(bool shared);
bool matrices_run_b(bool shared);

// A warp loads LONG_LOADS elements for each lane in one basic block. Returns the line in matrices.cu; -1 when it fails.
enum { LONG_LOADS = 1200 };
int matrices_run_long(void);

#ifdef __cplusplus
}
#endif
#endif
