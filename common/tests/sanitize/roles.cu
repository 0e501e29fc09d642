// Parts of a block that do not wait for each other or for box copies as they must. Lines that a report must name have
// the mark "<-".
#include "faults.h"
#include "tiles.h"

// The right kernel runs first, because a block must know nothing of the barriers of the one before it.
#define RUN(kernel, threads)                                                                       \
  for (int i = 0; i < 2; i++) {                                                                    \
    const auto run = broken && i == 1 ? kernel<false> : kernel<true>;                              \
    run<<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));                        \
  }

// ---- Box copies ---------------------------------------------------------------------------------

template <bool right>
__global__ void early_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map, 32);
  if (right) barrier_wait(fetched.full, 0);
  if (!right) __syncthreads();
  out[threadIdx.x] = __half2float((*fetched.place)[threadIdx.x][0]); // <- early read
  barrier_wait(fetched.full, 0);
}
void box_read_early(bool broken) { RUN(early_kernel, 64) }

// One thread waits for a copy; after a block barrier the others may read it too.
template <bool right>
__global__ void by_one_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  if (threadIdx.x == 0) barrier_wait(fetched.full, 0);
  if (right) __syncthreads();
  out[threadIdx.x] = __half2float((*fetched.place)[threadIdx.x][0]); // <- other read
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
    reads_before_copies();
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
  const fetched_tile fetched = fetch_first(memory, &map);
  if (right) barrier_wait(fetched.full, 0);
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

// The fence must come before the barrier that lets another thread copy. A later one does no harm, nor does a barrier on
// which no copy counts and which is not shown.
template <bool right>
__global__ void shown_late_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full, beside;
  if (threadIdx.x == 0) barrier_create(&full, 1); // <- barrier shown late
  if (threadIdx.x == 1) barrier_create(&beside, 1);
  if (right && threadIdx.x == 0) barriers_created();
  __syncthreads();
  if (threadIdx.x == 0) barriers_created();
  if (threadIdx.x == 32) fetch(tiles(memory), &map, &full);
  barrier_wait(&full, 0);
}
void box_counts_on_shown_late(bool broken) { RUN(shown_late_kernel, 64) }

// The fence of another thread than the one that has made the barrier shows nothing.
template <bool right>
__global__ void shown_by_other_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  if (threadIdx.x == 0) barrier_create(&full, 1); // <- barrier shown by another
  if (threadIdx.x == (right ? 0 : 1)) barriers_created();
  __syncthreads();
  if (threadIdx.x == 0) fetch(tiles(memory), &map, &full);
  barrier_wait(&full, 0);
}
void box_counts_on_shown_by_other(bool broken) { RUN(shown_by_other_kernel, 32) }

// The thread that has waited for the copy ends, and so the barrier of the others says nothing of the copy.
template <bool right>
__global__ void ended_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  if (threadIdx.x == 32) barrier_wait(fetched.full, 0);
  if (!right && threadIdx.x == 32) return;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = __half2float((*fetched.place)[5][7]); // <- read behind the ended
}
void box_waited_by_ended(bool broken) { RUN(ended_kernel, 64) }

// Nor does it say that the phase of the copy is over.
template <bool right>
__global__ void ended_phase_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  if (threadIdx.x == 32) barrier_wait(fetched.full, 0);
  if (!right && threadIdx.x == 32) return;
  __syncthreads();
  if (threadIdx.x == 0) barrier_arrive(fetched.full);
  if (threadIdx.x == 33) barrier_wait(fetched.full, 1);
  if (threadIdx.x == 64) barrier_wait(fetched.full, 1); // <- wait behind the ended
  out[threadIdx.x] = 1;
}
void phase_waited_by_ended(bool broken) { RUN(ended_phase_kernel, 96) }

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

// Lane 0 meets half of its warp in a shuffle, and arrives for these lanes alone.
template <bool right>
__global__ void half_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ barrier empty[1];
  __shared__ float values[32];
  if (threadIdx.x < 32) values[threadIdx.x] = 0.0f;
  create(empty, 1);
  if (threadIdx.x < 32) {
    const unsigned half = threadIdx.x < 16 ? 0x0000ffff : 0xffff0000;
    const float own = values[threadIdx.x]; // <- half read
    out[threadIdx.x] = __shfl_xor_sync(right ? 0xffffffff : half, own, 1);
    if (threadIdx.x == 0) barrier_arrive(&empty[0]);
  }
  if (threadIdx.x == 32) {
    barrier_wait(&empty[0], 0);
    values[20] = 1.0f; // <- half write
  }
}
void phase_of_half_warp(bool broken) { RUN(half_kernel, 64) }

// One lane waits, and tells its warp by __syncwarp().
template <bool right>
__global__ void told_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ barrier full[1];
  __shared__ float value;
  create(full, 1);
  if (threadIdx.x == 0) {
    value = 1.0f; // <- told write
    barrier_arrive(&full[0]);
  }
  if (threadIdx.x < 32) return;
  if (threadIdx.x == 37) barrier_wait(&full[0], 0);
  if (right || threadIdx.x == 37) __syncwarp(right ? 0xffffffff : 1u << 5);
  if (threadIdx.x == 40) out[0] = value; // <- told read
}
void phase_waited_by_lane(bool broken) { RUN(told_kernel, 64) }

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

// A warp passes the turn on twice before it is taken, and both arrivals count in one phase.
template <bool right>
__global__ void at_once_kernel(const __grid_constant__ CUtensorMap, float *) {
  const int threads = right ? 64 : 96;
  if (threadIdx.x < 32) {
    named_barrier_arrive(1, threads); // <- one turn
    for (int i = 0; !right && i < 20; i++) __nanosleep(1000);
    if (!right) named_barrier_arrive(1, threads); // <- another turn
  } else {
    named_barrier_wait(1, threads);
  }
}
void turn_passed_at_once(bool broken) { RUN(at_once_kernel, 64) }

// Two warps take turns; one of them lets the other begin, or each does.
template <bool right>
__global__ void turns_kernel(const __grid_constant__ CUtensorMap, float *) {
  const int warp = threadIdx.x / 32;
  if (!right && warp == 0) named_barrier_arrive(2, 64); // <- first turn
  if (warp == 1) named_barrier_arrive(1, 64);
  named_barrier_wait(1 + warp, 64);
  if (warp == 0) named_barrier_arrive(2, 64); // <- second turn
}
void turn_passed_twice(bool broken) { RUN(turns_kernel, 64) }
