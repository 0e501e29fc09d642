// Threads that wait for a phase of an mbarrier and may miss it, or take another one for it. Which of the two comes to pass
// depends on the order of the threads. Lines that a report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

#define RUN(kernel)                                                                                \
  if (broken) kernel<false><<<1, 64>>>(device_floats(64));                                         \
  if (!broken) kernel<true><<<1, 64>>>(device_floats(64));

// Thread 0 ends three phases, and thread 32 waits for the first of them.
template <bool right>
__global__ void missed_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  if (threadIdx.x == 0) {
    barrier_arrive(&full[0]);
    if (right) barrier_wait(&seen[0], 0);
    for (int i = 0; i < 2; i++) barrier_arrive(&full[0]); // <- missed arrival
  } else if (threadIdx.x == 32) {
    barrier_wait(&full[0], 0); // <- missed wait
    barrier_arrive(&seen[0]);
    out[0] = 1;
  }
}
void phase_missed(bool broken) { RUN(missed_kernel) }

// A whole warp waits, and one lane says so, behind a function for which all lanes meet. With the fault that lane waits for
// the first phase alone.
template <bool right>
__global__ void warp_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  for (int lap = 0; lap < 3; lap++) {
    if (threadIdx.x == 0) {
      barrier_arrive(&full[0]); // <- warp arrival
      if (right) barrier_wait(&seen[0], lap % 2);
    } else if (threadIdx.x == 32 ? lap == 0 || right : threadIdx.x > 32 && right) {
      barrier_wait(&full[0], lap % 2); // <- warp wait
      const bool all = !right || __all_sync(0xffffffff, 1);
      if (threadIdx.x == 32 && all) barrier_arrive(&seen[0]);
    }
  }
  out[threadIdx.x] = 1;
}
void phase_missed_by_warp(bool broken) { RUN(warp_kernel) }

// Bytes end the phases. The thread that starts the copies must wait for those that look at the phases.
template <bool right>
__global__ void copy_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1], empty[1];
  create(full, 1);
  create(empty, right ? 2 : 1);
  if (threadIdx.x == 64) {
    for (int lap = 0; lap < 3; lap++) {
      if (lap > 0) barrier_wait(&empty[0], (lap - 1) % 2);
      barrier_arrive_expecting(&full[0], TILE_BYTES); // <- copy arrival
      reads_before_copies();
      copy_box(tiles(memory), &map, &full[0], 0, 0, 0, 0);
    }
  } else if (threadIdx.x % 32 == 0) {
    for (int lap = 0; lap < 3; lap++) {
      barrier_wait(&full[0], lap % 2); // <- copy wait
      if (threadIdx.x == 0) out[lap] = __half2float(tiles(memory)[0][0][0]);
      if (lap < 2 && (right || threadIdx.x == 0)) barrier_arrive(&empty[0]);
    }
  }
}
void phase_of_copy_missed(bool broken) {
  const CUtensorMap map = map_of_zeros();
  if (broken) copy_kernel<false><<<1, 96, TWO_TILES>>>(map, device_floats(64));
  if (!broken) copy_kernel<true><<<1, 96, TWO_TILES>>>(map, device_floats(64));
}

// One thread arrives for a warpgroup. That is enough behind a product, which waits for all four warps.
template <bool right>
__global__ void group_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1], empty[1];
  create(full, 1);
  create(empty, 1);
  const uint64_t matrix = matrix_descriptor(tiles(memory), 0);
  float d[32] = {};
  for (int lap = 0; lap < 3; lap++) {
    if (threadIdx.x == 128) {
      if (lap > 0) barrier_wait(&empty[0], (lap - 1) % 2);
      fetch(tiles(memory), &map, &full[0]);
    } else if (threadIdx.x < 128) {
      barrier_wait(&full[0], lap % 2); // <- group wait
      wgmma_fence();
      if (right) wgmma<half, 64>::shared(d, matrix, matrix, true);
      if (right) wgmma_commit();
      if (right) wgmma_wait<0>(d);
      if (lap < 2 && threadIdx.x == 0) barrier_arrive(&empty[0]);
    }
  }
  out[threadIdx.x] = d[0];
}
void phase_of_warpgroup(bool broken) {
  const CUtensorMap map = map_of_zeros();
  if (broken) group_kernel<false><<<1, 160, TWO_TILES>>>(map, device_floats(160));
  if (!broken) group_kernel<true><<<1, 160, TWO_TILES>>>(map, device_floats(160));
}

// Thread 32 waits for the second phase alone. Before the first one has ended, that is the phase before the first.
template <bool right>
__global__ void left_out_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  if (threadIdx.x == 0) {
    barrier_arrive(&full[0]); // <- left out arrival
    if (right) barrier_wait(&seen[0], 0);
    barrier_arrive(&full[0]);
  } else if (threadIdx.x == 32) {
    if (right) barrier_wait(&full[0], 0);
    barrier_arrive(&seen[0]);
    barrier_wait(&full[0], 1); // <- left out wait
    out[0] = 1;
  }
}
void phase_left_out(bool broken) { RUN(left_out_kernel) }

// Thread 1 waits for the first phase, and the others know it by the barrier of the block.
template <bool right>
__global__ void known_kernel(float *out) {
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) barrier_arrive(&full[0]); // <- known arrival
  if (threadIdx.x == 1) barrier_wait(&full[0], 0);
  if (right) __syncthreads();
  if (threadIdx.x == 1) barrier_arrive(&full[0]);
  if (threadIdx.x == 32) barrier_wait(&full[0], 1); // <- known wait
  out[threadIdx.x] = 1;
}
void phase_known_by_barrier(bool broken) { RUN(known_kernel) }
