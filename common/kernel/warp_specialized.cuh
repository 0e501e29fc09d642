// Parts of step 12 that steps 13 and 14 take over as they are: the tiles in shared memory and the producer. Step 12
// explains them.
// From: 12_warp_specialized
#ifndef WARP_SPECIALIZED_CUH
#define WARP_SPECIALIZED_CUH

#include "hopper.cuh"
#include "kernel.cuh"
#include "tile_order.cuh"

// The tiles of a block in shared memory. Each starts at a multiple of 1024 bytes.
template <typename tile, typename Element, int D>
struct shared_tiles {
  Element Q[D / PANEL][tile::BLOCK_M][PANEL];
  Element K[tile::STAGES][D / PANEL][tile::BLOCK_N][PANEL];
  Element V[tile::STAGES][D / PANEL][tile::BLOCK_N][PANEL];
  barrier Q_full, K_full[tile::STAGES], V_full[tile::STAGES]; // complete when the tile has arrived
  barrier K_empty[tile::STAGES], V_empty[tile::STAGES]; // complete when all consumers have read it
};
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = ALIGNED_BYTES<shared_tiles<tile, half, D>>;

// The producer's thread copies Q, and then K and V of each key block, as their stages become empty.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void produce(shared_tiles<tile, Element, D> &smem,
                                        const tensor_maps &maps, const tile_place &place) {
  ring_place<tile::STAGES> K_ring, V_ring;
  const auto load_keys = [&](const tile_place &place, int block) {
    fill_stage<D / PANEL>(smem.K, smem.K_full, smem.K_empty, K_ring, &maps.K, block * tile::BLOCK_N,
                          place.kv_head, place.batch);
  };
  const auto load_values = [&](const tile_place &place, int block) {
    fill_stage<D / PANEL>(smem.V, smem.V_full, smem.V_empty, V_ring, &maps.V, block * tile::BLOCK_N,
                          place.kv_head, place.batch);
  };
  barrier_arrive_expecting(&smem.Q_full, sizeof(smem.Q));
  load_tile<D / PANEL>(smem.Q, &maps.Q, &smem.Q_full, place.first_query, place.head, place.batch);
  for (int block = 0; block < place.blocks; block++) {
    load_keys(place, block);
    load_values(place, block);
  }
}

#endif
