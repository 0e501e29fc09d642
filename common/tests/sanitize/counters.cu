// Blocks that count themselves, so that the last one can use what all have written. Lines that a report must name have the
// mark "<-".
#include "device_floats.h"
#include "faults.h"
#include "hopper.cuh"

#include <cuda/atomic>

#define RUN(kernel, grid, block, ...)                                                              \
  if (broken) kernel<false><<<grid, block>>>(__VA_ARGS__);                                         \
  if (!broken) kernel<true><<<grid, block>>>(__VA_ARGS__);

template <bool right>
__global__ void last_kernel(float *partial, unsigned *done, float *sum) {
  __shared__ bool last;
  if (threadIdx.x < 4) partial[4 * blockIdx.x + threadIdx.x] = 1; // <- last write
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = right ? atomicAdd(done, 1u) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float total = 0;
    for (unsigned i = 0; i < 4 * gridDim.x; i++) total += partial[i]; // <- last read
    *sum = total;
  }
}
void last_block(bool broken) {
  RUN(last_kernel, 4, 32, device_floats(16), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}

template <bool right>
__global__ void counted_kernel(float *partial, unsigned *done, float *sum) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = 1; // <- counted write
  if (right) {
    __threadfence();
  } else {
    __threadfence_block();
  }
  if (atomicAdd(done, 1u) < gridDim.x - 1) return;
  __threadfence();
  float total = 0;
  for (unsigned i = 0; i < gridDim.x; i++) total += partial[i]; // <- counted read
  *sum = total;
}
void last_block_without_fence(bool broken) {
  RUN(counted_kernel, 4, 32, device_floats(4), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}

// The fence of each block makes its element visible, but the last one may have read the others' before it counts itself.
enum acquiring { BY_FENCE, BY_OPERATION, RELAXED, IN_BLOCK };
template <acquiring how>
__global__ void acquired_kernel(float *partial, unsigned *done, float *sum) {
  __shared__ unsigned before;
  partial[32 * blockIdx.x + threadIdx.x] = 1; // <- acquired write
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*done);
    if (how == BY_OPERATION) before = counter.fetch_add(1, cuda::memory_order_acquire);
    if (how == RELAXED) before = counter.fetch_add(1, cuda::memory_order_relaxed);
    if (how == BY_FENCE || how == IN_BLOCK) before = atomicAdd(done, 1u);
    if (how == BY_FENCE) __threadfence();
    if (how == IN_BLOCK) __threadfence_block();
  }
  __syncthreads();
  if (before < gridDim.x - 1) return;
  const unsigned other = (blockIdx.x + 1) % gridDim.x;
  sum[threadIdx.x] = partial[32 * other + threadIdx.x]; // <- acquired read
}
template <acquiring wrong, acquiring right>
static void run_acquired(bool broken) {
  float *partial = device_floats(128), *sum = device_floats(32);
  unsigned *done = reinterpret_cast<unsigned *>(device_floats(1));
  if (broken) acquired_kernel<wrong><<<4, 32>>>(partial, done, sum);
  if (!broken) acquired_kernel<right><<<4, 32>>>(partial, done, sum);
}
void last_block_unacquired(bool broken) { run_acquired<IN_BLOCK, BY_FENCE>(broken); }
void last_block_relaxed(bool broken) { run_acquired<RELAXED, BY_OPERATION>(broken); }

// The fence behind the operation may be that of another thread, which knows of the operation by a barrier.
template <bool right>
__global__ void barrier_kernel(float *partial, unsigned *done, float *sum, bool of_warp) {
  __shared__ bool last;
  if (of_warp && threadIdx.x >= 32) return;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1; // <- behind barrier write
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  if (of_warp) {
    __syncwarp();
  } else {
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(done + 1, 1u); // of which the other thread does not know
  }
  if (last && threadIdx.x == 1) {
    if (right) __threadfence();
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; i++) total += partial[i]; // <- behind barrier read
    *sum = total;
  }
}
static void run_by_barrier(bool broken, bool of_warp) {
  unsigned *done = reinterpret_cast<unsigned *>(device_floats(2));
  RUN(barrier_kernel, 4, 64, device_floats(4), done, device_floats(1), of_warp)
}
void last_block_by_barrier(bool broken) { run_by_barrier(broken, false); }
void last_block_by_warp_barrier(bool broken) { run_by_barrier(broken, true); }

// Each warp counts for itself, behind its fence. That of another warp does not acquire for it.
template <bool right>
__global__ void last_warp_kernel(float *partial, unsigned *done, float *sum) {
  const unsigned warp = threadIdx.x / 32;
  unsigned before = 0;
  partial[64 * blockIdx.x + threadIdx.x] = 1; // <- last warp write
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    before = atomicAdd(&done[warp], 1u);
    if (right) __threadfence();
  }
  __syncwarp();
  if (__shfl_sync(0xffffffff, before, 0) < gridDim.x - 1) return;
  const unsigned other = (blockIdx.x + 1) % gridDim.x;
  sum[threadIdx.x] = partial[64 * other + threadIdx.x]; // <- last warp read
}
void last_warp_unacquired(bool broken) {
  RUN(last_warp_kernel, 4, 64, device_floats(256), reinterpret_cast<unsigned *>(device_floats(2)),
      device_floats(64))
}

// Lane 1 learns by a shuffle that its block is the last one, which says nothing of memory.
template <bool right>
__global__ void told_kernel(float *partial, unsigned *done, float *sum) {
  unsigned before = 0;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1; // <- told write
    __threadfence();
    before = atomicAdd(done, 1u);
  }
  before = __shfl_sync(0xffffffff, before, 0);
  if (right) __syncwarp();
  if (threadIdx.x != 1 || before < gridDim.x - 1) return;
  __threadfence();
  float total = 0;
  for (unsigned i = 0; i < gridDim.x; i++) total += partial[i]; // <- told read
  *sum = total;
}
void last_block_by_shuffle(bool broken) {
  RUN(told_kernel, 4, 32, device_floats(4), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}

// The thread that has counted ends before the barrier, so that the others learn nothing of its operation there.
template <bool right>
__global__ void gone_kernel(float *partial, unsigned *done, float *sum) {
  unsigned before = 0;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1; // <- gone write
    __threadfence();
    before = atomicAdd(done, 1u);
  }
  before = __shfl_sync(0xffffffff, before, 0);
  if (!right && threadIdx.x == 0) return;
  __syncthreads();
  if (threadIdx.x != 1 || before < gridDim.x - 1) return;
  __threadfence();
  float total = 0;
  for (unsigned i = 0; i < gridDim.x; i++) total += partial[i]; // <- gone read
  *sum = total;
}
void last_block_of_thread_gone(bool broken) {
  RUN(gone_kernel, 4, 32, device_floats(4), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}

// The warp that counts passes its turn to the other one, which executes the fence. Either of the two may be the first.
template <bool right>
__global__ void turn_kernel(float *partial, unsigned *done, float *sum, unsigned counting) {
  __shared__ bool last;
  if (threadIdx.x / 32 == counting) {
    if (threadIdx.x % 32 == 0) {
      partial[blockIdx.x] = 1; // <- turn write
      __threadfence();
      last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncwarp();
    named_barrier_arrive(1, 64);
  } else {
    named_barrier_wait(1, 64);
    if (!last || threadIdx.x % 32 != 0) return;
    if (right) __threadfence();
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; i++) total += partial[i]; // <- turn read
    *sum = total;
  }
}
void last_block_by_turn(bool broken) {
  unsigned *done = reinterpret_cast<unsigned *>(device_floats(2));
  RUN(turn_kernel, 4, 64, device_floats(4), done, device_floats(1), 0u)
  RUN(turn_kernel, 4, 64, device_floats(4), done + 1, device_floats(1), 1u)
}

// The thread that sets a counter to 0 must come before all that count with it. A store by cuda::atomic reads nothing, so the
// counter need not have been written before.
template <bool right>
__global__ void cleared_kernel(unsigned *sum) {
  __shared__ unsigned count;
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> stored;
  if (threadIdx.x == 0) {
    stored.store(0, cuda::memory_order_relaxed);
    count = 0; // <- cleared write
  }
  if (right) __syncthreads();
  atomicAdd(&count, 1u); // <- cleared add
  if (right) stored.fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) *sum = count + stored.load(cuda::memory_order_relaxed);
}
void counter_cleared(bool broken) {
  RUN(cleared_kernel, 1, 64, reinterpret_cast<unsigned *>(device_floats(1)))
}

// A block that has executed no atomic operation is not told of those of the others.
template <bool right>
__global__ void uncounted_kernel(float *partial, unsigned *done, float *sum) {
  partial[blockIdx.x] = 1; // <- uncounted write
  if (right) __threadfence();
  if (right || blockIdx.x < gridDim.x - 1) atomicAdd(done, 1u);
  if (right) __threadfence();
  if (blockIdx.x == gridDim.x - 1) *sum = partial[0]; // <- uncounted read
}
void last_block_uncounted(bool broken) {
  RUN(uncounted_kernel, 2, 1, device_floats(2), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}

// A counter in shared memory is the block's own: it tells the other blocks nothing, with whatever fences around it.
template <bool right>
__global__ void own_counter_kernel(float *partial, unsigned *done, float *sum) {
  __shared__ unsigned own;
  own = 0;
  partial[blockIdx.x] = 1; // <- own counter write
  __threadfence();
  atomicAdd(right ? done : &own, 1u);
  __threadfence();
  if (blockIdx.x == gridDim.x - 1) *sum = partial[0]; // <- own counter read
}
void last_block_counts_for_itself(bool broken) {
  RUN(own_counter_kernel, 2, 1, device_floats(2), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(1))
}
