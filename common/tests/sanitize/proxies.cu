// Box copies that overwrite what threads have read or written. All accesses are in order, but the fence between the
// threads' way to memory and that of the copy engine is missing, or at a place where it does not help. Lines that a
// report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

#define RUN(kernel, threads)                                                                       \
  if (broken) kernel<false><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));    \
  if (!broken) kernel<true><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));

// Thread 0 fetches the next tile, and no thread reads it.
__device__ void refill(const fetched_tile &stage, const CUtensorMap *map) {
  if (threadIdx.x == 0) fetch(stage.place, map, stage.full);
  barrier_wait(stage.full, 1);
}

// Each thread reads a row of its own. Then thread 0 executes the fence behind the barrier.
template <bool right>
__global__ void unfenced_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
  __syncthreads();
  if (right && threadIdx.x == 0) reads_before_copies();
  refill(stage, &map);
}
void refill_unfenced(bool broken) { RUN(unfenced_kernel, 64) }

// Each thread executes the fence behind its reads and before the barrier, or all of them but one.
template <bool right>
__global__ void by_readers_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
  if (right || threadIdx.x != 33) reads_before_copies();
  __syncthreads();
  refill(stage, &map);
}
void refill_unfenced_by_readers(bool broken) { RUN(by_readers_kernel, 64) }

// All threads read the same element. Before the barrier the fence of thread 0 is for its own read only.
template <bool right>
__global__ void too_soon_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[5][7]); // <- read
  if (!right && threadIdx.x == 0) reads_before_copies();
  __syncthreads();
  if (right && threadIdx.x == 0) reads_before_copies();
  refill(stage, &map);
}
void refill_fenced_too_soon(bool broken) { RUN(too_soon_kernel, 64) }

template <bool right>
__global__ void written_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  (*stage.place)[threadIdx.x][0] = __float2half(1.0f); // <- write
  if (right) writes_for_wgmma();
  __syncthreads();
  refill(stage, &map);
}
void refill_of_written(bool broken) { RUN(written_kernel, 64) }

// A warp reads, meets at __syncwarp(), and lane 0 tells thread 32 that the stage is empty. The fence may be that of
// lane 0, as long as it is executed behind the __syncwarp().
template <bool right>
__global__ void role_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier empty[1];
  create(empty, 1);
  const fetched_tile stage = arrived_tile(memory, &map);
  if (threadIdx.x < 32) {
    out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
    if (!right && threadIdx.x == 0) reads_before_copies();
    __syncwarp();
    if (right && threadIdx.x == 0) reads_before_copies();
    if (threadIdx.x == 0) barrier_arrive(&empty[0]);
  } else if (threadIdx.x == 32) {
    barrier_wait(&empty[0], 0);
    fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, 1);
  }
}
void refill_of_other_role(bool broken) { RUN(role_kernel, 64) }

// The same with a shuffle, into which the values that the lanes have read go.
template <bool right>
__global__ void shuffled_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier empty[1];
  create(empty, 1);
  const fetched_tile stage = arrived_tile(memory, &map);
  if (threadIdx.x < 32) {
    float own = __half2float((*stage.place)[threadIdx.x][0]); // <- read
    if (!right && threadIdx.x == 0) reads_before_copies();
    own = __shfl_xor_sync(0xffffffff, own, 1);
    if (right && threadIdx.x == 0) reads_before_copies();
    if (threadIdx.x == 0) barrier_arrive(&empty[0]);
    out[threadIdx.x] = own;
  } else if (threadIdx.x == 32) {
    barrier_wait(&empty[0], 0);
    fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, 1);
  }
}
void refill_behind_shuffle(bool broken) { RUN(shuffled_kernel, 64) }

// Both warps read the same element, and one executes no fence. Each of them may be the last to read.
template <bool right>
__global__ void one_warp_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[5][7]); // <- read
  if (right || threadIdx.x >= 32) reads_before_copies();
  __syncthreads();
  refill(stage, &map);
}
void refill_unfenced_by_warp(bool broken) { RUN(one_warp_kernel, 64) }

// The same for two lanes of a warp.
template <bool right>
__global__ void one_lane_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  if (threadIdx.x == 33 || threadIdx.x == 34) {
    out[threadIdx.x] = __half2float((*stage.place)[5][7]); // <- read
    if (right || threadIdx.x == 34) reads_before_copies();
  }
  __syncthreads();
  refill(stage, &map);
}
void refill_unfenced_by_lane(bool broken) { RUN(one_lane_kernel, 64) }

// The first copy of a block need not wait for the last reads of the block before, which had the same shared memory.
template <bool right>
__global__ void next_block_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[64 * blockIdx.x + threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
  __syncthreads();
  if (!right) refill(stage, &map);
}
void refill_in_next_block(bool broken) {
  if (broken) next_block_kernel<false><<<1, 64, TWO_TILES>>>(map_of_zeros(), device_floats(64));
  if (!broken) next_block_kernel<true><<<3, 64, TWO_TILES>>>(map_of_zeros(), device_floats(192));
}

// In the second round the fences of the first one do not count.
template <bool right>
__global__ void rounds_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  for (unsigned round = 0; round < 2; round++) {
    out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
    if (right || round == 0) reads_before_copies();
    __syncthreads();
    if (threadIdx.x == 0) fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, (round + 1) % 2);
  }
}
void refill_after_old_fence(bool broken) { RUN(rounds_kernel, 64) }

// For lanes of one warp __syncwarp() is enough of a barrier, but no fence.
template <bool right>
__global__ void warp_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
  __syncwarp();
  if (right && threadIdx.x == 0) reads_before_copies();
  refill(stage, &map);
}
void refill_for_warp(bool broken) { RUN(warp_kernel, 32) }

// A third thread executes the fence, between a barrier that orders it behind the reads and one that orders it before
// the copy. In the other kernel it comes before the first of them.
template <bool right>
__global__ void third_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x][0]); // <- read
  if (!right && threadIdx.x == 40) reads_before_copies();
  __syncthreads();
  if (right && threadIdx.x == 40) reads_before_copies();
  __syncthreads();
  refill(stage, &map);
}
void refill_fenced_by_third(bool broken) { RUN(third_kernel, 64) }

// A thread that knows of the read executes the fence, and ends before the barrier, which then says nothing of it.
template <bool right>
__global__ void ended_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier done[1];
  create(done, 1);
  const fetched_tile stage = arrived_tile(memory, &map);
  if (threadIdx.x == 40) {
    out[0] = __half2float((*stage.place)[5][7]); // <- read
    barrier_arrive(&done[0]);
  }
  if (threadIdx.x == 1) {
    barrier_wait(&done[0], 0);
    reads_before_copies();
    if (!right) return;
  }
  __syncthreads();
  refill(stage, &map);
}
void refill_fenced_by_ended(bool broken) { RUN(ended_kernel, 64) }

// Warp 1 tells warp 0 by an atomic operation that it has read the tile.
template <bool right>
__global__ void atomic_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  const fetched_tile stage = arrived_tile(memory, &map);
  __syncthreads();
  if (threadIdx.x == 32) {
    out[0] = __half2float((*stage.place)[3][0]); // <- read
    atomicAdd(&done, 1);
  } else if (threadIdx.x == 0) {
    while (atomicAdd(&done, 0) == 0) {
    }
    if (right) reads_before_copies();
    fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, 1);
  }
}
void refill_behind_atomic(bool broken) { RUN(atomic_kernel, 64) }

// Warp 2 reads, and thread 0 refills behind a fence that it executes after its arrival for the copy. Thread 32 waits for
// this copy and starts the next one, so it needs to know neither of the reads nor of the fence.
template <bool right>
__global__ void another_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier empty[1];
  create(empty, 32);
  const fetched_tile stage = arrived_tile(memory, &map);
  __syncthreads(); // all threads have seen the first phase before the next ones end
  if (threadIdx.x >= 64) {
    out[threadIdx.x] = __half2float((*stage.place)[threadIdx.x - 64][0]); // <- read
    barrier_arrive(&empty[0]);
  } else if (threadIdx.x == 0) {
    barrier_arrive_expecting(stage.full, TILE_BYTES);
    barrier_wait(&empty[0], 0);
    if (right) reads_before_copies();
    copy_box(stage.place, &map, stage.full, 0, 0, 0, 0); // <- fetch
  } else if (threadIdx.x == 32) {
    barrier_wait(stage.full, 1);
    fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, 0);
  }
}
void refill_by_another(bool broken) { RUN(another_kernel, 96) }
