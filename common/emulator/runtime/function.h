// The attributes of a kernel: its static shared memory, and the values that the host has set.
#ifndef FUNCTION_H
#define FUNCTION_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

// The most bytes of dynamic shared memory that a launch of the kernel may ask for: the value that
// cudaFuncSetAttribute set, otherwise the part of 48 KiB that its static shared memory leaves.
size_t function_dynamic_shared_limit(const void *kernel);

// Whether a launch of the kernel may ask for clusters of more than 8 blocks.
bool function_large_clusters(const void *kernel);

// The blocks of the kernel's clusters, if the kernel itself or cudaFuncSetAttribute says how many; else 0 x 0 x 0.
dim3 function_cluster(const void *kernel);

// How many blocks of the kernel a multiprocessor can hold at a time, by threads and shared memory alone.
int function_blocks_per_multiprocessor(const void *kernel, int block_threads,
                                       size_t dynamic_shared_bytes);

#endif
