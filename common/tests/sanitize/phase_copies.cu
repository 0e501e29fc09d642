// Threads that wait for a phase of an mbarrier that the bytes of copies end, and may miss it, or take another one for it.
// Lines that a report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

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

// The bytes of a copy end the first phase, which thread 32 has seen. Thread 64 knows it by a barrier of both warps. That of
// the block is behind the announcement of the bytes alone.
template <bool right>
__global__ void copy_known_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  __syncthreads();
  if (threadIdx.x == 32) barrier_wait(fetched.full, 0);
  if (right && threadIdx.x >= 32) named_barrier_wait(1, 64);
  if (threadIdx.x == 32) barrier_arrive(fetched.full);
  if (threadIdx.x == 64) barrier_wait(fetched.full, 1); // <- copy known wait
  out[threadIdx.x] = 1;
}
void phase_of_copy_known(bool broken) {
  const CUtensorMap map = map_of_zeros();
  if (broken) copy_known_kernel<false><<<1, 96, TWO_TILES>>>(map, device_floats(96));
  if (!broken) copy_known_kernel<true><<<1, 96, TWO_TILES>>>(map, device_floats(96));
}

// Thread 64 announces the bytes of two copies and starts the first one, and thread 96 starts the second one. That one waits
// for both readers, or for one of them, behind the announcement: bytes may end a phase, and they come of the copy.
template <bool right>
__global__ void copiers_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1], empty[1];
  create(full, 1);
  create(empty, right ? 2 : 1);
  if (threadIdx.x == 64) {
    fetch(tiles(memory), &map, &full[0]);
    barrier_wait(&full[0], 0);
    barrier_arrive_expecting(&full[0], TILE_BYTES);
  } else if (threadIdx.x == 96) {
    barrier_wait(&empty[0], 0);
    reads_before_copies();
    copy_box(tiles(memory), &map, &full[0], 0, 0, 0, 0);
  } else if (threadIdx.x % 32 == 0) {
    barrier_wait(&full[0], 0); // <- copiers wait
    if (threadIdx.x == 0) out[0] = __half2float(tiles(memory)[0][0][0]);
    if (right || threadIdx.x == 0) barrier_arrive(&empty[0]);
    barrier_wait(&full[0], 1);
  }
}
void phase_of_two_copiers(bool broken) {
  const CUtensorMap map = map_of_zeros();
  if (broken) copiers_kernel<false><<<1, 128, TWO_TILES>>>(map, device_floats(1));
  if (!broken) copiers_kernel<true><<<1, 128, TWO_TILES>>>(map, device_floats(1));
}

// Thread 64 announces the bytes, and thread 96 starts the copies. It tells the readers by their bytes that it has seen the
// end of a phase of `empty`. With the fault thread 64 starts them as well, and thread 96 only waits.
template <bool right>
__global__ void announced_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1], empty[1];
  create(full, 1);
  create(empty, 2);
  for (int lap = 0; lap < 4; lap++) {
    if (threadIdx.x == 64 || threadIdx.x == 96) {
      if (lap > 0) barrier_wait(&empty[0], (lap - 1) % 2); // <- announced wait
      if (threadIdx.x == 64) barrier_arrive_expecting(&full[0], TILE_BYTES);
      reads_before_copies();
      if (threadIdx.x == (right ? 96 : 64)) copy_box(tiles(memory), &map, &full[0], 0, 0, 0, 0);
    } else if (threadIdx.x % 32 == 0) {
      barrier_wait(&full[0], lap % 2);
      if (threadIdx.x == 0) out[lap] = __half2float(tiles(memory)[0][0][0]);
      barrier_arrive(&empty[0]);
    }
  }
}
void phase_of_announced_copy(bool broken) {
  const CUtensorMap map = map_of_zeros();
  if (broken) announced_kernel<false><<<1, 128, TWO_TILES>>>(map, device_floats(128));
  if (!broken) announced_kernel<true><<<1, 128, TWO_TILES>>>(map, device_floats(128));
}
