// Counters in a workspace: which memory is cleared, and that each call has its own place whatever the memory holds.
#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

cudaError_t clear_memory(void *memory, size_t bytes);
cudaError_t count_calls(void *counter, unsigned blocks, unsigned threads, unsigned *found);

enum { WORDS = 64, BYTES = WORDS * 8 };

static void *allocate(size_t bytes) {
  void *memory = NULL;
  cr_assert_eq(cudaMalloc(&memory, bytes), cudaSuccess);
  return memory;
}

// Fills the memory, has it cleared as a step does, and returns how many of its bytes are 0.
static size_t cleared(void *memory, size_t bytes) {
  unsigned char host[BYTES];
  size_t zeros = 0;
  cr_assert_eq(cudaMemset(memory, 0x55, BYTES), cudaSuccess);
  cr_assert_eq(clear_memory(memory, bytes), cudaSuccess);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(cudaMemcpy(host, memory, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < BYTES; i++) zeros += host[i] == 0;
  return zeros;
}

// Memory is new once. More bytes at the same address are new again, as where a workspace has grown, and fewer are not.
Test(counter, only_new_memory_is_cleared) {
  void *memory = allocate(BYTES);
  cr_expect_eq(cleared(memory, 128), 128);
  cr_expect_eq(cleared(memory, 128), 0);
  cr_expect_eq(cleared(memory, 256), 256);
  cr_expect_eq(cleared(memory, 128), 0);
  cudaFree(memory);
  memory = allocate(BYTES);
  cr_expect_eq(cleared(memory, 0), 0);
  cudaFree(memory);
}

// Of 16 pieces of memory each is known, and of 17 the first is new again.
Test(counter, the_last_pieces_of_memory_are_remembered) {
  enum { REMEMBERED = 16 };
  void *pieces[REMEMBERED + 1];
  for (size_t i = 0; i <= REMEMBERED; i++) pieces[i] = allocate(BYTES);
  for (size_t i = 0; i < REMEMBERED; i++) cr_expect_eq(cleared(pieces[i], 64), 64);
  for (size_t i = 0; i < REMEMBERED; i++) cr_expect_eq(cleared(pieces[i], 64), 0, "piece %zu", i);
  cr_expect_eq(cleared(pieces[REMEMBERED], 64), 64);
  cr_expect_eq(cleared(pieces[0], 64), 64);
  for (size_t i = 0; i <= REMEMBERED; i++) cudaFree(pieces[i]);
}

// Whatever the word holds before the first launch; the later ones find what the one before has left. Some words carry one
// half of a counter's mark, or all of it.
Test(counter, each_call_has_its_own_place) {
  static const uint64_t words[] = {0,
                                   UINT64_MAX,
                                   0xfff500000000c0de,
                                   0xfff500003f800000,
                                   0x3f8123450000c0de,
                                   0x5555555555555555};
  enum { BLOCKS = 3, THREADS = 32, CALLS = BLOCKS * THREADS };
  void *counter = allocate(8);
  unsigned *found = allocate((CALLS + 1) * sizeof *found), host[CALLS + 1];
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    cr_assert_eq(cudaMemcpy(counter, &words[i], 8, cudaMemcpyHostToDevice), cudaSuccess);
    for (int launch = 0; launch < 3; launch++) {
      cr_assert_eq(cudaMemset(found, 0, sizeof host), cudaSuccess);
      cr_assert_eq(count_calls(counter, BLOCKS, THREADS, found), cudaSuccess);
      cr_assert_eq(cudaMemcpy(host, found, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
      for (size_t place = 0; place < CALLS; place++)
        cr_expect_eq(host[place], 1, "word %zu, launch %d: %u calls have place %zu", i, launch,
                     host[place], place);
      cr_expect_eq(host[CALLS], 0, "a call has a place beyond the last");
    }
  }
  cudaFree(found);
  cudaFree(counter);
}
