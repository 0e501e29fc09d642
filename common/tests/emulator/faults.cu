#include "faults.h"

#undef NDEBUG // the assertion is the test
#include <cassert>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

static const unsigned FULL = 0xffffffff;

int line_barrier, line_shuffle, line_ballot, line_assert, line_outside, line_lineless, line_call,
    line_copy;
#define MARK(name) line_##name = __LINE__

// ---- Waiting for what does not come -------------------------------------------------------------

// Half of warp 1 waits for the other half, which waits at the barrier; warps 2 and 3 leave.
__global__ void deadlock_kernel() {
  if (threadIdx.x >= 64) return;
  if (threadIdx.x >= 32 && threadIdx.x < 48) {
    MARK(shuffle), __shfl_sync(FULL, 1, 0);
  } else {
    MARK(barrier), __syncthreads();
  }
}
void fault_deadlock_barrier(void) { deadlock_kernel<<<3, 128>>>(); }

// Every third thread waits for its warp; the others for the block.
__global__ void scattered_kernel() {
  if (threadIdx.x % 3 == 0) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}
void fault_deadlock_scattered(void) { scattered_kernel<<<1, 96>>>(); }

__global__ void outside_mask_kernel() {
  if (threadIdx.x == 20) MARK(outside), __ballot_sync(0x0000ffff, 1);
}
void fault_outside_mask(void) { outside_mask_kernel<<<1, 32>>>(); }

__global__ void mixed_kernel() {
  if (threadIdx.x < 8) {
    MARK(shuffle), __shfl_xor_sync(FULL, 1, 1);
  } else {
    MARK(ballot), __ballot_sync(FULL, 1);
  }
}
void fault_mixed_operations(void) { mixed_kernel<<<1, 32>>>(); }

// Both are votes, and their answers differ.
__global__ void votes_kernel() {
  if (threadIdx.x < 8) {
    __any_sync(FULL, 1);
  } else {
    __all_sync(FULL, 1);
  }
}
void fault_mixed_votes(void) { votes_kernel<<<1, 32>>>(); }

// The launch names a variable, and the fault is in a function: a report names the kernel, and the line of the call.
static __device__ __noinline__ void vote_function() { __ballot_sync(FULL, 1); }
template <unsigned LANES, typename One, typename Two>
__global__ void mixed_calls_kernel() {
  if (threadIdx.x < LANES) {
    __shfl_xor_sync(FULL, 1, 1);
  } else {
    MARK(call), vote_function();
  }
}
void fault_mixed_calls(void) {
  const auto chosen = mixed_calls_kernel<8, half, __nv_bfloat162>;
  chosen<<<1, 32>>>();
}

__global__ void width_kernel(int width) { __shfl_sync(FULL, 1, 0, width); }
void fault_bad_width(void) { width_kernel<<<1, 32>>>(12); }

// Two of five blocks end before they come to the grid's barrier.
__global__ void grid_kernel(unsigned ending) {
  if (blockIdx.x < ending) return;
  cooperative_groups::this_grid().sync();
}
void fault_grid_missed(void) {
  unsigned ending = 2;
  void *arguments[] = {&ending};
  cudaLaunchCooperativeKernel(grid_kernel, dim3(5), dim3(64), arguments, 0, cudaStream_t(0));
}
void fault_grid_not_cooperative(void) { grid_kernel<<<1, 64>>>(0); }

// ---- Memory -------------------------------------------------------------------------------------

// Thread 5 of block 2 alone goes wrong, where there are so many.
__global__ void touch_kernel(float *data, long index, bool write) {
  if (threadIdx.x != 5 % blockDim.x || blockIdx.x != 2 % gridDim.x) return;
  volatile float *element = data + index;
  if (write) {
    *element = 1;
  } else if (*element == 12345) {
    data[0] = 0;
  }
}

static float *device_floats(int count) {
  float *data;
  cudaMalloc(&data, count * sizeof(float));
  return data;
}

void fault_read_past_end(void) { touch_kernel<<<4, 32>>>(device_floats(1024), 1024 + 9, false); }

// The copy stands in a function: a report names the line of its call, too.
static __device__ void copy_function(float *to, const float *from) {
  __pipeline_memcpy_async(to, from, sizeof *to); // past the end
}
__global__ void copy_kernel(const float *data) {
  __shared__ float tile[32];
  MARK(copy), copy_function(&tile[threadIdx.x], &data[threadIdx.x]);
}
void fault_copy_past_end(void) { copy_kernel<<<1, 32>>>(device_floats(1024) + 1024); }

void fault_read_past_small(void) { touch_kernel<<<1, 32>>>(device_floats(75), 128, false); }
void fault_write_before_start(void) { touch_kernel<<<4, 32>>>(device_floats(1024), -2, true); }
void fault_read_null(void) { touch_kernel<<<1, 1>>>(nullptr, 4, false); }
void fault_read_wild(void) {
  touch_kernel<<<1, 1>>>(reinterpret_cast<float *>(0x7ff8000000000000), 0, false);
}
void fault_use_after_free(void) {
  float *data = device_floats(1024);
  cudaFree(data);
  touch_kernel<<<1, 1>>>(data, 100, false);
}

__global__ void misaligned_kernel(const float *in, float4 *out) {
  *out = *reinterpret_cast<const float4 *>(in + 1);
}
void fault_misaligned(void) {
  misaligned_kernel<<<1, 1>>>(device_floats(16), reinterpret_cast<float4 *>(device_floats(4)));
}

__global__ void misaligned_atomic_kernel(char *data) {
  atomicAdd(reinterpret_cast<int *>(data + 14), 1); // <- in two times 16 bytes
}
void fault_misaligned_atomic(void) {
  misaligned_atomic_kernel<<<1, 1>>>(reinterpret_cast<char *>(device_floats(16)));
}

__device__ int recurse(volatile int *depth) {
  volatile int frame[64];
  frame[0] = ++*depth;
  return frame[0] > 0 ? recurse(depth) + frame[0] : 0;
}
__global__ void recursion_kernel(int *depth) { *depth = recurse(depth); }
void fault_stack_overflow(void) {
  int *depth;
  cudaMalloc(&depth, sizeof *depth);
  cudaMemset(depth, 0, sizeof *depth);
  recursion_kernel<<<1, 1>>>(depth);
}

// Through a variable the function is not inlined, as g++ may decide for any that is large or called often.
__global__ void atomic_kernel(unsigned long long *nowhere) {
  unsigned long long (*volatile add)(unsigned long long *, unsigned long long) = atomicAdd;
  add(nowhere, 1); // behind the end
}
void fault_atomic(void) {
  atomic_kernel<<<1, 1>>>(reinterpret_cast<unsigned long long *>(device_floats(1024)) + 512);
}

__global__ void past_local_kernel(float *out) {
  volatile float values[4] = {1, 2, 3, 4};
  volatile float *value = values;
  while (*value != -1.5f) value += 256; // past its end, up to the stack of the next thread
  *out = *value;
}
void fault_read_past_local(void) { past_local_kernel<<<1, 1>>>(device_floats(1)); }

#ifdef __x86_64__
__global__ void lineless_kernel(float *nowhere) {
  MARK(lineless);
  __asm__ volatile("nop\n\t.loc 1 0\n\tmovl $1, (%0)" : : "r"(nowhere) : "memory");
}
void fault_write_without_line(void) { lineless_kernel<<<1, 1>>>(device_floats(64) + 64); }
#endif

__global__ void overrun_kernel(int bytes) {
  extern __shared__ unsigned char memory[];
  static_cast<volatile unsigned char *>(memory)[bytes + 60] = 1;
}
void fault_dynamic_shared_overrun(void) { overrun_kernel<<<1, 1, 100>>>(100); }
void fault_dynamic_shared_overrun_far(void) { overrun_kernel<<<1, 1, 100>>>(4000); }

// ---- Other ends ---------------------------------------------------------------------------------

__global__ void divide_kernel(int *data) { data[0] = data[1] / data[2]; }
void fault_divide_by_zero(void) {
  int *data;
  cudaMalloc(&data, 12);
  cudaMemset(data, 0, 12);
  divide_kernel<<<1, 1>>>(data);
}

__global__ void trap_kernel() { __trap(); }
void fault_trap(void) { trap_kernel<<<1, 1>>>(); }

__global__ void assert_kernel(int limit) {
  const int x = threadIdx.x;
  MARK(assert), assert(x < limit);
}
void fault_assert(void) { assert_kernel<<<1, 32>>>(3); }

__global__ void launching_kernel() { trap_kernel<<<1, 2000>>>(); }
void fault_launch_in_kernel(void) { launching_kernel<<<1, 1>>>(); }

__global__ void together_kernel(int *arrived) {
  extern __shared__ unsigned char memory[];
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < 4) {
  }
  static_cast<volatile unsigned char *>(memory)[160] = 1;
}
void fault_in_every_block(void) {
  int *arrived;
  cudaMalloc(&arrived, sizeof *arrived);
  cudaMemset(arrived, 0, sizeof *arrived);
  together_kernel<<<4, 1, 100>>>(arrived);
}

void fault_large_deadlock(void) { scattered_kernel<<<2, 1024>>>(); }

void refused_block(void) { scattered_kernel<<<1, dim3(8, 2, 65)>>>(); }
void refused_grid(void) { scattered_kernel<<<dim3(3, 2, 65536), 32>>>(); }
void refused_shared_memory(void) { overrun_kernel<<<1, 1, 50000>>>(100); }
void refused_room(void) {
  int after = 0;
  void *arguments[] = {&after};
  cudaLaunchCooperativeKernel(grid_kernel, dim3(265), dim3(1024), arguments);
}
