// The kernel that only reads: the exclusive or of its results is that of all words of both sources, also where the last
// block has less to read than the others, and nothing behind the end of a source counts.
#include "timing/reading.h"
#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { PIECE = 16, PIECE_WORDS = PIECE / sizeof(unsigned), MARGIN_PIECES = 4 };

// Words that depend on their place and on the source. The margin behind the end is filled, too.
static void *make_source(size_t bytes, unsigned seed, unsigned *mix) {
  const size_t words = bytes / sizeof(unsigned);
  const size_t all = words + MARGIN_PIECES * PIECE_WORDS;
  unsigned *host = malloc(all * sizeof *host);
  cr_assert(host);
  for (size_t i = 0; i < all; i++) {
    host[i] = ((unsigned)i + seed) * 2654435761u;
    if (i < words) *mix ^= host[i];
  }
  void *source = NULL;
  cr_assert_eq(cudaMalloc(&source, all * sizeof *host), cudaSuccess);
  cr_assert_eq(cudaMemcpy(source, host, all * sizeof *host, cudaMemcpyHostToDevice), cudaSuccess);
  free(host);
  return source;
}

static unsigned read_back(const void *first, const void *second, size_t bytes) {
  const size_t blocks = reading_blocks(bytes) * (second ? 2 : 1);
  unsigned *mixed = NULL, *host = malloc(blocks * sizeof *host), mix = 0;
  cr_assert(host && cudaMalloc((void **)&mixed, blocks * sizeof *mixed) == cudaSuccess);
  cr_assert_eq(reading_launch(first, second, bytes, mixed, NULL), cudaSuccess);
  cr_assert_eq(cudaMemcpy(host, mixed, blocks * sizeof *host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < blocks; i++) mix ^= host[i];
  cr_assert_eq(cudaFree(mixed), cudaSuccess);
  free(host);
  return mix;
}

Test(reading, takes_each_word_once) {
  const size_t sizes[] = {PIECE, READING_BLOCK_BYTES - PIECE, READING_BLOCK_BYTES,
                          READING_BLOCK_BYTES + PIECE, 3 * READING_BLOCK_BYTES + 7 * PIECE};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned of_first = 0, of_second = 0;
    void *first = make_source(sizes[i], 1, &of_first);
    void *second = make_source(sizes[i], 77, &of_second);
    cr_assert_neq(of_first, of_second);
    cr_expect_eq(read_back(first, NULL, sizes[i]), of_first, "%zu bytes", sizes[i]);
    cr_expect_eq(read_back(first, second, sizes[i]), of_first ^ of_second, "twice %zu bytes",
                 sizes[i]);
    cr_assert(cudaFree(first) == cudaSuccess && cudaFree(second) == cudaSuccess);
  }
}

Test(reading, has_a_block_for_each_part) {
  cr_expect_eq(reading_blocks(PIECE), 1);
  cr_expect_eq(reading_blocks(READING_BLOCK_BYTES), 1);
  cr_expect_eq(reading_blocks(READING_BLOCK_BYTES + PIECE), 2);
  cr_expect_eq(reading_blocks((size_t)3 << 32), 786432);
}
