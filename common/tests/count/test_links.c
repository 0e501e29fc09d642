// Counts the bytes that go over the links between devices: those of copies, and those that kernels access.
#define _GNU_SOURCE
#include "emulator/count.h"

#include <criterion/criterion.h>
#include <stdlib.h>

void add_far(const float *in, float *out);
void copy_far(const float *in);
bool copy_box_far(const float *in);

Test(links, count_copies_and_accesses) {
  enum { BYTES = 64 * sizeof(float) };
  float *memory[2];
  setenv("EMU_GPUS", "2", 1);
  for (int device = 0; device < 2; device++) {
    cr_assert_eq(cudaSetDevice(device), cudaSuccess);
    cr_assert_eq(cudaMalloc((void **)&memory[device], BYTES), cudaSuccess);
    cr_assert_eq(cudaMemset(memory[device], 0, BYTES), cudaSuccess);
  }
  cr_assert_eq(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  cr_assert_eq(cudaMemcpyPeer(memory[0], 0, memory[1], 1, BYTES), cudaSuccess);
  cr_assert_eq(emulator_link_bytes(1, 0), BYTES);
  emulator_count_reset();
  cr_assert_eq(emulator_link_bytes(1, 0), 0);
  add_far(memory[0], memory[1]); // reads what is far
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(emulator_link_bytes(0, 1), BYTES);
  cr_assert_eq(emulator_link_bytes(1, 0), 0);
  add_far(memory[1], memory[0]); // writes what is far
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(emulator_link_bytes(0, 1), BYTES);
  cr_assert_eq(emulator_link_bytes(1, 0), BYTES);
  copy_far(memory[0]);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(emulator_link_bytes(0, 1), 2 * BYTES);
  cr_assert(copy_box_far(memory[0])); // of as many bytes
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(emulator_link_bytes(0, 1), 3 * BYTES);
}
