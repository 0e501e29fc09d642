#include "cooperative.h"

#include "../emulator/device_array.h"

#include <cooperative_groups.h>

// The blocks wait for each other by polling, then at the grid's barrier.
static __global__ void gather_kernel(unsigned *arrived, float *numbers, float *out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < grid.size()) {
  }
  numbers[grid.thread_rank()] = grid.thread_rank();
  grid.sync();
  out[grid.thread_rank()] = numbers[(grid.thread_rank() + 64) % grid.size()];
}

bool cooperative_run(void) {
  device_array<unsigned> arrived(1);
  device_array<float> numbers(256), out(256);
  unsigned *of_arrived = arrived.data();
  float *of_numbers = numbers.data(), *of_out = out.data();
  void *arguments[] = {&of_arrived, &of_numbers, &of_out};
  return cudaLaunchCooperativeKernel(gather_kernel, dim3(4), dim3(64), arguments, 0,
                                     cudaStream_t(0)) == cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess && out.host()[255] == 63;
}
