// A kernel that only reads. Attention of a few queries and many keys has to read K and V once as well, so this kernel's time
// for the same bytes is what it can come near to. Another way of reading may be faster.
#ifndef TIMING_READING_H
#define TIMING_READING_H

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  READING_BLOCK_BYTES = 256 * 4 * 16
}; // that a block reads: threads, pieces of a thread, bytes of a piece

// Returns how many blocks read `bytes` of each source.
size_t reading_blocks(size_t bytes);

// Enqueues one launch that reads all of `first` and of `second` (device memory, aligned to 16 bytes, `bytes` of each, a
// multiple of 16; NULL where there is no second one), and returns its error.
//   mixed [sources][reading_blocks(bytes)], device memory: the exclusive or of all words that the block has read
cudaError_t reading_launch(const void *first, const void *second, size_t bytes, unsigned *mixed,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
