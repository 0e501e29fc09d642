// Threads that wait for a phase of an mbarrier and may miss it, or take another one for it. Which of the two comes to pass
// depends on the order of the threads. Lines that a report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

// The right kernel runs first, because a block must know nothing of the phases of the one before it.
#define RUN_THREADS(kernel, threads)                                                               \
  for (int i = 0; i < 2; i++) {                                                                    \
    const auto run = broken && i == 1 ? kernel<false> : kernel<true>;                              \
    run<<<1, threads>>>(device_floats(threads));                                                   \
  }
#define RUN(kernel) RUN_THREADS(kernel, 64)

// Thread 32 ends three phases, and thread 0 waits for the first of them. It sees that one before the next one ends, by luck.
template <bool right>
__global__ void missed_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  if (threadIdx.x == 32) {
    barrier_arrive(&full[0]);
    if (right) barrier_wait(&seen[0], 0);
    for (int i = 0; !right && i < 20; i++) __nanosleep(1000);
    for (int i = 0; i < 2; i++) barrier_arrive(&full[0]); // <- missed arrival
  } else if (threadIdx.x == 0) {
    barrier_wait(&full[0], 0); // <- missed wait
    barrier_arrive(&seen[0]);
    out[0] = 1;
  }
}
void phase_missed(bool broken){RUN(missed_kernel)}

// The same behind a block with as many barriers as are looked at, all of them in other places.
__global__ void many_barriers_kernel() {
  extern __shared__ barrier many[];
  if (threadIdx.x >= 63) return;
  barrier_create(&many[threadIdx.x], 1);
  barrier_arrive(&many[threadIdx.x]);
}
void phase_missed_behind_many(bool broken) {
  many_barriers_kernel<<<1, 64, 63 * sizeof(barrier)>>>();
  RUN(missed_kernel)
}

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

// The same, where thread 0 knows the end of the first phase because its own arrival was the last.
template <bool right>
__global__ void end_known_kernel(float *out) {
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) barrier_arrive(&full[0]);
  if (right) __syncthreads();
  if (threadIdx.x == 1) barrier_arrive(&full[0]);
  if (threadIdx.x == 32) barrier_wait(&full[0], 1); // <- end known wait
  out[threadIdx.x] = 1;
}
void phase_end_known(bool broken) { RUN(end_known_kernel) }

// Thread 32 waits for the first phase, and the arrival that ends the second one is behind a barrier of the block.
template <bool right>
__global__ void seen_kernel(float *out) {
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == 0) barrier_arrive(&full[0]);
  if (threadIdx.x == 32) barrier_wait(&full[0], 0); // <- seen wait
  if (right) __syncthreads();
  if (threadIdx.x == 0) barrier_arrive(&full[0]); // <- seen arrival
  if (threadIdx.x == 0 && !right) barrier_arrive(&full[0]);
  out[threadIdx.x] = 1;
}
void phase_seen_by_barrier(bool broken) { RUN(seen_kernel) }

// The second phase takes an arrival of the thread that has seen the end of the first one, though another may be the last.
template <bool right>
__global__ void second_arrival_kernel(float *out) {
  __shared__ barrier full[1];
  create(full, 2);
  if (threadIdx.x == 0 || threadIdx.x == 64) barrier_arrive(&full[0]);
  if (threadIdx.x == 32) {
    barrier_wait(&full[0], 0); // <- second wait
    if (right) barrier_arrive(&full[0]);
  } else if (threadIdx.x == 64 || (threadIdx.x == 96 && !right)) {
    barrier_wait(&full[0], 0);
    barrier_arrive(&full[0]);
    if (!right) barrier_wait(&full[0], 1);
    if (!right) barrier_arrive(&full[0]);
  }
  out[threadIdx.x] = 1;
}
void phase_seen_by_arrival(bool broken) { RUN_THREADS(second_arrival_kernel, 128) }

// Thread 32 waits for the first phase and for the third, late. That it has seen the first one says nothing of the second.
template <bool right>
__global__ void third_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  if (threadIdx.x == 0) {
    barrier_arrive(&full[0]);
    barrier_wait(&seen[0], 0);
    barrier_arrive(&full[0]);
    if (right) barrier_wait(&seen[0], 1);
    barrier_arrive(&full[0]);
  } else if (threadIdx.x == 32) {
    barrier_wait(&full[0], 0);
    barrier_arrive(&seen[0]);
    if (right) barrier_wait(&full[0], 1);
    if (right) barrier_arrive(&seen[0]);
    for (int i = 0; !right && i < 20; i++) __nanosleep(1000);
    barrier_wait(&full[0], 0); // <- third wait
    out[0] = 1;
  }
}
void phase_left_out_later(bool broken) { RUN(third_kernel) }

// Thread 32 has seen the first phase. That counts for a lane of its warp, and not for a thread of another one.
template <bool right>
__global__ void lane_kernel(float *out) {
  __shared__ barrier full[1], seen[1];
  create(full, 1);
  create(seen, 1);
  if (threadIdx.x == 0) {
    barrier_arrive(&full[0]);
    barrier_wait(&seen[0], 0);
    barrier_arrive(&full[0]);
  }
  if (threadIdx.x / 32 == 1) {
    if (threadIdx.x == 32) barrier_wait(&full[0], 0);
    __all_sync(0xffffffff, 1);
    if (threadIdx.x == 32) barrier_arrive(&seen[0]);
  }
  if (threadIdx.x == (right ? 33 : 64)) barrier_wait(&full[0], 1); // <- lane wait
  out[threadIdx.x] = 1;
}
void phase_seen_by_lane(bool broken) { RUN_THREADS(lane_kernel, 96) }
