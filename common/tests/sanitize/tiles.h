// Tiles of shared memory, which box copies fill, for the faulty kernels of roles.cu and products.cu.
#ifndef SANITIZE_TILES_H
#define SANITIZE_TILES_H

#include "device_floats.h"
#include "hopper.cuh"

static constexpr int ROWS = 64, TILE_BYTES = ROWS * PANEL * 2;
static constexpr int TWO_TILES =
    2 * TILE_BYTES + 1024; // bytes of shared memory, with room to align
using tile = half[ROWS][PANEL];

static CUtensorMap map_of_zeros() {
  void *tensor;
  cudaMalloc(&tensor, TILE_BYTES);
  cudaMemset(tensor, 0, TILE_BYTES);
  CUtensorMap map;
  describe_tensor(&map, ATTENTION_FP16, tensor, 1, 1, ROWS, PANEL, ROWS);
  return map;
}

// Returns consecutive tiles of shared memory, at a multiple of 1024 bytes.
__device__ tile *tiles(unsigned char *memory) {
  return (tile *)(memory + (-shared_address(memory) & 1023));
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

// The first tile of a block, which a box copy fills, and the barrier at which it arrives.
struct fetched_tile {
  tile *place;
  uint64_t matrix; // the descriptor that products need
  barrier *full;
};

// The thread, 0 where none is given, has the tile fetched. The caller must wait for it.
__device__ fetched_tile fetch_first(unsigned char *memory, const CUtensorMap *map,
                                    unsigned thread = 0) {
  __shared__ barrier full[1];
  create(full, 1);
  if (threadIdx.x == thread) fetch(tiles(memory), map, &full[0]);
  return {tiles(memory), matrix_descriptor(tiles(memory), 0), &full[0]};
}

// Fetches a tile and waits for it.
__device__ fetched_tile arrived_tile(unsigned char *memory, const CUtensorMap *map) {
  const fetched_tile fetched = fetch_first(memory, map);
  barrier_wait(fetched.full, 0);
  return fetched;
}

#endif
