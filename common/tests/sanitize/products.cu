// Products of a warp group whose operands, results or registers are used too early. Lines that a report must name have
// the mark "<-".
#include "faults.h"
#include "tiles.h"

// The right kernel runs first, because what it has done excuses nothing in a later block.
#define RUN(kernel, threads)                                                                       \
  kernel<true><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));                 \
  if (broken) kernel<false><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));

template <bool right>
__global__ void operand_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  float d[32];
  if (right) barrier_wait(fetched.full, 0);
  __syncthreads();
  wgmma_fence();
  wgmma<half, 64>::shared(d, fetched.matrix, fetched.matrix, true); // <- early product
  wgmma_commit();
  if (!right) barrier_wait(fetched.full, 0);
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_reads_early(bool broken) { RUN(operand_kernel, 128) }

// Three of the four warps wait for the operands.
template <bool right>
__global__ void some_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  float d[32];
  if (right || threadIdx.x / 32 != 1) barrier_wait(fetched.full, 0);
  wgmma_fence();
  wgmma<half, 64>::shared(d, fetched.matrix, fetched.matrix, true); // <- product of some
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_waited_by_some(bool broken) { RUN(some_kernel, 128) }

// One thread fetches the next tile, when all threads have waited or when none has.
template <bool right>
__global__ void overwritten_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = arrived_tile(memory, &map);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, fetched.matrix, fetched.matrix, true); // <- overwritten product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  __syncthreads();
  if (threadIdx.x == 0) fetch(fetched.place, &map, fetched.full);
  if (!right) wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
  barrier_wait(fetched.full, 1);
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
  if (late) __nanosleep(100); // all of these fences come before the product
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
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
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
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
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

// Products add to the same D one after the other, but not to parts of it, and none reads it as its A.
template <bool right>
__global__ void parts_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[48];
  float(&first)[32] = *(float(*)[32])d, (&second)[32] = *(float(*)[32])(d + 16);
  wgmma_fence();
  wgmma<half, 64>::shared(first, matrix, matrix, true); // <- first part
  wgmma<half, 64>::shared(first, matrix, matrix, false);
  wgmma_commit();
  if (right) {
    wgmma_wait<0>(first);
    wgmma_fence();
  }
  wgmma<half, 64>::shared(second, matrix, matrix, true); // <- second part
  wgmma_commit();
  wgmma_wait<0>(first);
  out[threadIdx.x] = second[0];
}
void product_of_parts(bool broken) { RUN(parts_kernel, 128) }

template <bool right>
__global__ void chain_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float c[32], d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(c, matrix, matrix, true); // <- link
  wgmma_commit();
  if (right) {
    wgmma_wait<0>(c);
    wgmma_fence();
  }
  wgmma<half, 64>::registers(d, (const unsigned *)&c[4], matrix, true); // <- next link
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_of_result(bool broken) { RUN(chain_kernel, 128) }

// The operand of a product under way is no place for the next D.
template <bool right>
__global__ void reused_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float c[36] = {}, d[32];
  float(&over)[32] = *(float(*)[32])(c + (right ? 4 : 0));
  wgmma_fence();
  wgmma<half, 64>::registers(d, (const unsigned *)c, matrix, true); // <- user
  wgmma<half, 64>::shared(over, matrix, matrix, true);              // <- reuse
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = over[0] + d[0];
}
void product_over_operand(bool broken) { RUN(reused_kernel, 128) }

template <bool right, bool committed>
__device__ void left_alone(unsigned char *memory, const CUtensorMap *map) {
  const uint64_t matrix = arrived_tile(memory, map).matrix;
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- product left alone
  if (right || committed) wgmma_commit();
  if (right || !committed) wgmma_wait<0>(d);
}
template <bool right>
__global__ void not_waited_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  left_alone<right, true>(memory, &map);
}
void product_not_waited(bool broken) { RUN(not_waited_kernel, 128) }
template <bool right>
__global__ void not_committed_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  left_alone<right, false>(memory, &map);
}
void product_not_committed(bool broken) { RUN(not_committed_kernel, 128) }

// A fence must be between a thread's access to registers and a product that uses them.
template <bool right>
__global__ void no_fence_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
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
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
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
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
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
