// Parts of a block that do not wait for each other, for box copies, or for
// products as they must. Lines that a report must name have the mark "<-".
#include "faults.h"

#include "hopper.cuh"

static constexpr int ROWS = 64, TILE_BYTES = ROWS * PANEL * 2;
using tile = half[ROWS][PANEL];

static CUtensorMap map_of_zeros() {
  void *tensor;
  cudaMalloc(&tensor, TILE_BYTES);
  cudaMemset(tensor, 0, TILE_BYTES);
  CUtensorMap map;
  describe_tensor(&map, ATTENTION_FP16, tensor, 1, 1, ROWS, PANEL, ROWS);
  return map;
}
static float *device_floats(int count) {
  float *data;
  cudaMalloc(&data, count * sizeof(float));
  return data;
}

// Returns consecutive tiles of shared memory, at a multiple of 1024 bytes.
__device__ tile *tiles(unsigned char *memory) {
  return (tile *)(memory + (-shared_address(memory) & 1023));
}

#define RUN(kernel, threads)                                                                       \
  if (broken) {                                                                                    \
    kernel<false><<<1, threads, 2 * TILE_BYTES + 1024>>>(map_of_zeros(), device_floats(threads));  \
  } else {                                                                                         \
    kernel<true><<<1, threads, 2 * TILE_BYTES + 1024>>>(map_of_zeros(), device_floats(threads));   \
  }

// Thread 0 initialises barriers for `arrivals` each.
template <int COUNT>
__device__ void create(barrier (&barriers)[COUNT], int arrivals) {
  if (threadIdx.x == 0) {
    barrier_create_all(barriers, arrivals);
    barriers_created();
  }
  __syncthreads();
}

__device__ void fetch(tile *to, const CUtensorMap *map, barrier *full) {
  barrier_arrive_expecting(full, TILE_BYTES);
  copy_box(to, map, full, 0, 0, 0, 0); // <- fetch
}

// ---- Box copies ---------------------------------------------------------------------------------

template <bool right>
__global__ void early_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  if (right) barrier_wait(&full[0], 0);
  if (!right) __syncthreads();
  out[threadIdx.x] = __half2float(tiles(memory)[0][threadIdx.x][0]); // <- early read
  barrier_wait(&full[0], 0);
}
void box_read_early(bool broken) { RUN(early_kernel, 64) }

// One thread waits for a copy; after a block barrier the others may read it too.
template <bool right>
__global__ void by_one_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  if (threadIdx.x == 0) barrier_wait(&full[0], 0);
  if (right) __syncthreads();
  out[threadIdx.x] = __half2float(tiles(memory)[0][threadIdx.x][0]); // <- other read
}
void box_waited_by_one(bool broken) { RUN(by_one_kernel, 64) }

// Two threads use the tile; thread 64 fetches the next one when only one of them is done.
template <bool right>
__global__ void overwrite_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1], empty[1];
  create(full, 1);
  create(empty, right ? 2 : 1);
  if (threadIdx.x == 64) fetch(tiles(memory), &map, &full[0]);
  if (threadIdx.x == 64) {
    barrier_wait(&empty[0], 0);
    barrier_arrive_expecting(&full[0], TILE_BYTES);
    copy_box(tiles(memory), &map, &full[0], 0, 0, 0, 0); // <- second fetch
    barrier_wait(&full[0], 1);
  } else if (threadIdx.x % 32 == 0) {
    barrier_wait(&full[0], 0);
    if (right || threadIdx.x == 0) {
      out[threadIdx.x] = __half2float(tiles(memory)[0][5][0]);
      barrier_arrive(&empty[0]);
    } else {
      out[threadIdx.x] = __half2float(tiles(memory)[0][5][0]); // <- slow read
    }
  }
}
void box_overwrites(bool broken) { RUN(overwrite_kernel, 96) }

template <bool right>
__global__ void forgotten_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  if (right) barrier_wait(&full[0], 0);
}
void box_never_waited(bool broken) { RUN(forgotten_kernel, 32) }

template <bool right>
__global__ void hidden_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  if (threadIdx.x == 0) {
    barrier_create(&full, 1); // <- hidden barrier
    if (right) barriers_created();
    fetch(tiles(memory), &map, &full);
  }
  __syncthreads();
  barrier_wait(&full, 0);
}
void box_counts_on_hidden(bool broken) { RUN(hidden_kernel, 32) }

// One barrier too many is made of the first array, and it is the first of the second.
template <bool right>
__global__ void again_kernel(const __grid_constant__ CUtensorMap, float *) {
  struct arrays {
    barrier full[2], empty[2];
  };
  __shared__ arrays barriers;
  if (threadIdx.x == 0) {
    for (int i = 0; i < (right ? 2 : 3); i++)
      barrier_create(&barriers.full[i], 1);                            // <- first of two
    for (int i = 0; i < 2; i++) barrier_create(&barriers.empty[i], 1); // <- second of two
  }
}
void barrier_made_again(bool broken) { RUN(again_kernel, 32) }

// The fence must come before the barrier that lets another thread copy.
template <bool right>
__global__ void shown_late_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  if (threadIdx.x == 0) barrier_create(&full, 1); // <- barrier shown late
  if (right && threadIdx.x == 0) barriers_created();
  __syncthreads();
  if (!right && threadIdx.x == 0) barriers_created();
  if (threadIdx.x == 32) fetch(tiles(memory), &map, &full);
  barrier_wait(&full, 0);
}
void box_counts_on_shown_late(bool broken) { RUN(shown_late_kernel, 64) }

// ---- Barriers -----------------------------------------------------------------------------------

template <bool right>
__global__ void arrival_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ barrier full[1];
  __shared__ float value;
  if (threadIdx.x == 0) value = 0.0f;
  create(full, 1);
  if (threadIdx.x == 0) {
    if (!right) barrier_arrive(&full[0]);
    value = 1.0f; // <- arrival write
    if (right) barrier_arrive(&full[0]);
  }
  if (threadIdx.x == 32) {
    barrier_wait(&full[0], 0);
    out[0] = value; // <- arrival read
  }
}
void phase_arrived_early(bool broken) { RUN(arrival_kernel, 64) }

// Lane 0 arrives for its whole warp: after a warp function in which they have met, or too early.
template <bool right>
__global__ void lanes_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ barrier empty[1];
  __shared__ float value;
  if (threadIdx.x == 0) value = 0.0f;
  create(empty, 1);
  if (threadIdx.x < 32) {
    const float own = value; // <- lanes read
    if (right) out[threadIdx.x] = __shfl_sync(0xffffffff, own, 0);
    if (threadIdx.x == 0) barrier_arrive(&empty[0]);
    out[threadIdx.x] = own;
  }
  if (threadIdx.x == 32) {
    barrier_wait(&empty[0], 0);
    value = 1.0f; // <- lanes write
  }
}
void phase_of_other_lane(bool broken) { RUN(lanes_kernel, 64) }

template <bool right>
__global__ void turn_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float value[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    value[lane] = 0.0f;
    if (!right) named_barrier_arrive(1, 64);
    value[lane] = 1.0f; // <- turn write
    if (right) named_barrier_arrive(1, 64);
  } else {
    named_barrier_wait(1, 64);
    out[lane] = value[31 - lane]; // <- turn read
  }
}
void turn_passed_early(bool broken) { RUN(turn_kernel, 64) }

// Two warps take turns; one of them lets the other begin, or each does.
template <bool right>
__global__ void turns_kernel(const __grid_constant__ CUtensorMap, float *) {
  const int warp = threadIdx.x / 32;
  if (!right && warp == 0) named_barrier_arrive(2, 64); // <- first turn
  if (warp == 1) named_barrier_arrive(1, 64);
  named_barrier_wait(1 + warp, 64);
  if (warp == 0) named_barrier_arrive(2, 64); // <- second turn
}
void turn_passed_twice(bool broken){RUN(turns_kernel, 64)}

// Fetches a tile, waits with a barrier of its own, and returns the descriptor that products need.
__device__ uint64_t
    arrived_tile(unsigned char *memory, const CUtensorMap *map, barrier (&full)[1]) {
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), map, &full[0]);
  barrier_wait(&full[0], 0);
  return matrix_descriptor(tiles(memory), 0);
}

// ---- Products -----------------------------------------------------------------------------------

template <bool right>
__global__ void operand_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  const uint64_t matrix = matrix_descriptor(tiles(memory), 0);
  float d[32];
  if (right) barrier_wait(&full[0], 0);
  __syncthreads();
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- early product
  wgmma_commit();
  if (!right) barrier_wait(&full[0], 0);
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_reads_early(bool broken) { RUN(operand_kernel, 128) }

// Three of the four warps wait for the operands.
template <bool right>
__global__ void some_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  const uint64_t matrix = matrix_descriptor(tiles(memory), 0);
  float d[32];
  if (right || threadIdx.x / 32 != 1) barrier_wait(&full[0], 0);
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- product of some
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_waited_by_some(bool broken) { RUN(some_kernel, 128) }

// One thread fetches the next tile, when all threads have waited or when none has.
template <bool right>
__global__ void overwritten_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- overwritten product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  __syncthreads();
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full[0]);
  if (!right) wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
  barrier_wait(&full[0], 1);
}
void product_overwritten(bool broken) { RUN(overwritten_kernel, 128) }

// The wait leaves the newest group pending: the first tile is free, the second is not.
template <bool right>
__global__ void newest_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[2];
  create(full, 1);
  if (threadIdx.x == 0) fetch(&tiles(memory)[0], &map, &full[0]);
  if (threadIdx.x == 0) fetch(&tiles(memory)[1], &map, &full[1]);
  const uint64_t first = matrix_descriptor(&tiles(memory)[0], 0);
  const uint64_t second = matrix_descriptor(&tiles(memory)[1], 0);
  float c[32], d[32];
  barrier_wait(&full[0], 0);
  barrier_wait(&full[1], 0);
  wgmma_fence();
  wgmma<half, 64>::shared(c, first, first, true);
  wgmma_commit();
  wgmma_fence();
  wgmma<half, 64>::shared(d, second, second, true); // <- newest product
  wgmma_commit();
  wgmma_wait<1>(c);
  __syncthreads();
  const int freed = right ? 0 : 1;
  if (threadIdx.x == 0) fetch(&tiles(memory)[freed], &map, &full[0]);
  wgmma_wait<0>(d);
  out[threadIdx.x] = c[0] + d[0];
  barrier_wait(&full[0], 1);
}
void product_of_newest_group(bool broken) { RUN(newest_kernel, 128) }

// Threads write an operand, and make it visible to the tensor cores before the barrier, behind it, or not at all.
template <bool right, bool late>
__device__ void multiply_written(unsigned char *memory, float *out) {
  const uint64_t matrix = matrix_descriptor(tiles(memory), 0);
  for (int row = 0; row < ROWS; row++)
    if (threadIdx.x < PANEL) tiles(memory)[0][row][threadIdx.x] = __float2half(1.0f); // <- operand
  if (right) writes_for_wgmma();
  __syncthreads();
  if (late) writes_for_wgmma();
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- product of written operands
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
template <bool right>
__global__ void written_kernel(const __grid_constant__ CUtensorMap, float *out) {
  extern __shared__ unsigned char memory[];
  multiply_written<right, false>(memory, out);
}
void product_of_hidden_writes(bool broken) { RUN(written_kernel, 128) }
template <bool right>
__global__ void shown_behind_kernel(const __grid_constant__ CUtensorMap, float *out) {
  extern __shared__ unsigned char memory[];
  multiply_written<right, !right>(memory, out);
}
void product_of_writes_shown_late(bool broken) { RUN(shown_behind_kernel, 128) }

// The registers of D and of A belong to the product until the wait.
template <bool right>
__global__ void result_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- hasty product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  out[threadIdx.x] = d[3]; // <- hasty read
  wgmma_wait<0>(d);
}
void product_result_early(bool broken) { RUN(result_kernel, 128) }

template <bool right>
__global__ void changed_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float d[32];
  unsigned a[4] = {};
  wgmma_fence();
  wgmma<half, 64>::registers(d, a, matrix, true); // <- slow product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  a[2] = threadIdx.x; // <- next operand
  wgmma_wait<0>(d);
  wgmma_fence();
  wgmma<half, 64>::registers(d, a, matrix, true);
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_operand_changed(bool broken) { RUN(changed_kernel, 128) }

template <bool right, bool committed>
__device__ void left_alone(const CUtensorMap *map, unsigned char *memory) {
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, map, full);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- product left alone
  if (right || committed) wgmma_commit();
  if (right || !committed) wgmma_wait<0>(d);
}
template <bool right>
__global__ void not_waited_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  left_alone<right, true>(&map, memory);
}
void product_not_waited(bool broken) { RUN(not_waited_kernel, 128) }
template <bool right>
__global__ void not_committed_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  left_alone<right, false>(&map, memory);
}
void product_not_committed(bool broken) { RUN(not_committed_kernel, 128) }

// A fence must be between a thread's access to registers and a product that uses them.
template <bool right>
__global__ void no_fence_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float d[32];
  if (right) wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- first product
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_without_fence(bool broken) { RUN(no_fence_kernel, 128) }

// Products on the same D need no fence between them, nor does a product of other registers.
template <bool right>
__global__ void unfenced_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float c[32], d[32];
  unsigned a[4] = {};
  wgmma_fence();
  wgmma<half, 64>::shared(c, matrix, matrix, true);
  wgmma<half, 64>::shared(c, matrix, matrix, false);
  wgmma_commit();
  wgmma_wait<0>(c);
  for (int i = 0; i < 4; i++) a[i] = (unsigned)c[i]; // <- fragment of A
  wgmma<half, 64>::shared(d, matrix, matrix, true);
  if (right) wgmma_fence();
  wgmma<half, 64>::registers(d, a, matrix, false); // <- product of it
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_operand_unfenced(bool broken) { RUN(unfenced_kernel, 128) }

template <bool right>
__global__ void scaled_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  const uint64_t matrix = arrived_tile(memory, &map, full);
  float d[32];
  for (int round = 0; round < 2; round++) {
    if (right || round == 0) wgmma_fence();
    wgmma<half, 64>::shared(d, matrix, matrix, round == 0); // <- product of scaled sums
    wgmma_commit();
    wgmma_wait<0>(d);
    for (int i = 0; i < 32; i++) d[i] *= 0.5f; // <- scaled sums
  }
  out[threadIdx.x] = d[0];
}
void product_sum_unfenced(bool broken) { RUN(scaled_kernel, 128) }
