// Each of these kernels reaches one limit of the GPU, or spends its time on one kind of load, one after the other. All
// functions enqueue one launch and return its error.
#ifndef CEILING_KERNELS_H
#define CEILING_KERNELS_H

#include "attention.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- copy.cu: pieces of 16 bytes; `bytes` is a multiple of COPY_BLOCK_BYTES

enum { COPY_BLOCK_BYTES = 256 * 4 * 16 }; // of one block

// Copies `bytes` from source to target.
cudaError_t copy_launch(const void *source, void *target, size_t bytes, cudaStream_t stream);

// Fills memory with bits that depend on their place; adds the number of 16-byte pieces that differ from
// that to *wrong, which is device memory.
cudaError_t copy_fill(void *memory, size_t bytes, cudaStream_t stream);
cudaError_t copy_count_wrong(const void *memory, size_t bytes, unsigned long long *wrong,
                             cudaStream_t stream);

// --- l2_read.cu: pieces of 16 bytes; `bytes` is a multiple of L2_CHUNK_BYTES, which a block reads in a round

enum { L2_CHUNK_BYTES = 256 * 4 * 16, L2_ROUNDS = 1024 };

// Block b reads chunk number (b + r) % chunks in round r, so each block goes round the window from its own start. Each
// block stores the sum of all words that it has read, modulo 2^32.
//   sums [blocks], device memory
cudaError_t l2_read_launch(const void *window, size_t bytes, unsigned *sums, unsigned blocks,
                           cudaStream_t stream);

// --- chase.cu: links of a chain in memory, each in a cache line of its own

enum { LINK_BYTES = 128, LINK_WORDS = LINK_BYTES / 8 }; // a cache line, and its words of 64 bits

// Follows the chain by `loads` loads. The first word of a link is the address of the next link. Before that, the first
// `warm_links` links in memory are loaded, so that they are in the L2 cache.
//   ends [2], device memory: the chase begins at the link of address ends[1]. It leaves this address in ends[0], and in
//                            ends[1] that of the link where it has ended, from which the next launch goes on
cudaError_t chase_launch(const void *chain, unsigned warm_links, unsigned loads, uint64_t *ends,
                         cudaStream_t stream);

// --- arithmetic.cu: independent chains in every thread

enum { ARITHMETIC_THREADS = 256, CHAINS = 8, FMA_ROUNDS = 65536, EXP2_ROUNDS = 8192 };

// Each chain is x = a * x + b, FMA_ROUNDS times. `factors` holds a, then b, for each thread, and
// `start` the first x of its chains; `out` gets the last.
//   factors [2][threads], start and out [CHAINS][threads], threads = blocks * ARITHMETIC_THREADS
cudaError_t fma_launch(const float *factors, const float *start, float *out, unsigned blocks,
                       cudaStream_t stream);

// Each chain is x = 2^-x, EXP2_ROUNDS times. start and out as above.
cudaError_t exp2_launch(const float *start, float *out, unsigned blocks, cudaStream_t stream);

// --- tensor_mma.cu: mma.sync.m16n8k16, operands in registers, float32 accumulators

enum { MMA_WARPS = 8, MMA_TILES = 4, MMA_ROUNDS = 16384 }; // warps of a block

// Every warp adds A[i] B[j] to D[i][j] MMA_ROUNDS times.
//   A [MMA_TILES][16][16], B [MMA_TILES][16][8], D [blocks * MMA_WARPS][MMA_TILES][MMA_TILES][16][8]
cudaError_t mma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                       unsigned blocks, cudaStream_t stream);

// --- tensor_wgmma.cu: wgmma m64n256k16, operands in shared memory, float32 accumulators

enum { WGMMA_GROUPS = 2, WGMMA_DEPTH = 64, WGMMA_ROUNDS = 8192 }; // warpgroups of a block

// Every warpgroup g of a block adds A[g] B^T to its D WGMMA_ROUNDS times. On a GPU other than sm_90a the
// kernel does nothing.
//   A [WGMMA_GROUPS][64][WGMMA_DEPTH], B [256][WGMMA_DEPTH], D [blocks][WGMMA_GROUPS][64][256]
cudaError_t wgmma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                         unsigned blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
