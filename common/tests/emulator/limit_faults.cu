#include "limit_faults.h"

#include "limit_functions.h"

#include <cuda_runtime.h>
#include <time.h>

int line_loop;
#define LOOP line_loop = __LINE__ + 1

__global__ void loop_kernel() {
  if (threadIdx.x == 37) {
    LOOP;
    while (true) {
    }
  }
  if (threadIdx.x < 64) __syncthreads();
}
void endless_loop(void) { loop_kernel<<<1, 96>>>(); }

__global__ void loop_everywhere_kernel() {
  LOOP;
  while (true) {
  }
}
void endless_loop_in_blocks(void) { loop_everywhere_kernel<<<64, 64>>>(); }

static int *device_flag(void) {
  int *flag = nullptr;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  return flag;
}

__global__ void headers_kernel(volatile int *flags) {
  LOOP;
  wait_for_flags(flags);
}
void endless_loop_in_headers(void) { headers_kernel<<<1, 64>>>(device_flag()); }

__global__ void call_kernel(volatile int *flag) {
  LOOP;
  wait_out_of_line(flag);
}
void endless_loop_in_function(void) { call_kernel<<<1, 64>>>(device_flag()); }

// Nothing interrupts the first thread, so the last one never runs.
__global__ void spin_kernel(volatile int *flag) {
  if (threadIdx.x == 63) *flag = 1;
  if (threadIdx.x == 0) {
    LOOP;
    while (*flag == 0) {
    }
  }
}
void endless_spin(void) { spin_kernel<<<1, 64>>>(device_flag()); }

__global__ void poll_kernel(int *flag) {
  LOOP;
  while (atomicAdd(flag, 0) == 0) {
  }
}
void endless_poll(void) { poll_kernel<<<1, 64>>>(device_flag()); }

void endless_cooperative_poll(void) {
  int *flag = device_flag();
  void *arguments[] = {&flag};
  cudaLaunchCooperativeKernel(poll_kernel, dim3(16), dim3(32), arguments);
}

__global__ void sleep_kernel() {
  LOOP;
  while (true) __nanosleep(100);
}
void endless_sleep(void) { sleep_kernel<<<2, 64>>>(); }

__global__ void barriers_kernel() {
  LOOP;
  while (true) __syncthreads();
}
void endless_barriers(void) { barriers_kernel<<<1, 256>>>(); }

__global__ void votes_kernel() {
  LOOP;
  while (__any_sync(0xffffffff, threadIdx.x == 0)) {
  }
}
void endless_votes(void) { votes_kernel<<<1, 32>>>(); }

// The limit is in processor time, so that a busy machine does not end the block early.
__global__ void slow_kernel() {
  if (threadIdx.x != 0) return;
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 50) {
  }
}
void many_blocks(void) { slow_kernel<<<16, 32>>>(); }

__global__ void healthy_kernel(int *result) { atomicAdd(result, (int)threadIdx.x); }
bool healthy_launch(void) {
  int sum = 0, *result = device_flag();
  healthy_kernel<<<4, 64>>>(result);
  const bool good = cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(result);
  return good && sum == 4 * 63 * 32;
}
