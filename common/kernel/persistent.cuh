// The tiles in shared memory, their barriers and the producer of steps 16, 17, 21 to 24 and 26, as in step 15.
// From: 15_persistent
#ifndef PERSISTENT_CUH
#define PERSISTENT_CUH

#include "hopper.cuh"
#include "kernel.cuh"
#include "products.cuh"
#include "tile_order.cuh"

// The tiles of a block in shared memory. Each starts at a multiple of 1024 bytes. V has one panel more than the copy
// engine fills: from step 16 on it holds ones.
template <typename tile, typename Element, int D>
struct shared_tiles {
  Element Q[2][D / PANEL][tile::BLOCK_M][PANEL]; // that of the next tile arrives during this one
  Element K[tile::STAGES][D / PANEL][tile::BLOCK_N][PANEL];
  Element V[tile::STAGES][D / PANEL + 1][tile::BLOCK_N][PANEL];
  int tile_number[2]; // of the tile that each Q belongs to
  // A phase of "full" is complete when the tile has arrived, one of "empty" when all consumers have read it.
  barrier Q_full[2], K_full[tile::STAGES], V_full[tile::STAGES];
  barrier Q_empty[2], K_empty[tile::STAGES], V_empty[tile::STAGES];
};
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = ALIGNED_BYTES<shared_tiles<tile, half, D>>;

// One thread creates the barriers for a producer and tile::WARPS warps of consumers.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void create_barriers(shared_tiles<tile, Element, D> &smem) {
  barrier_create_all(smem.Q_full, 1);
  barrier_create_all(smem.K_full, 1);
  barrier_create_all(smem.V_full, 1);
  barrier_create_all(smem.Q_empty, tile::WARPS);
  barrier_create_all(smem.K_empty, tile::WARPS);
  barrier_create_all(smem.V_empty, tile::WARPS);
  barriers_created();
}

// Where a key block lies: the descriptions of K and V, and in both the block's first row, head and batch entry.
struct block_place {
  const CUtensorMap *K, *V;
  int row, head, batch;
};

// `first_key` is the block's first key, counted from the tile's first key. The steps for several GPUs have a
// place_of_block of their own, because K and V come from several GPUs there.
__device__ __forceinline__ block_place place_of_block(const attention_shape &,
                                                      const tensor_maps &maps,
                                                      const tile_place &place, int first_key) {
  return {&maps.K, &maps.V, place.first_key + first_key, place.kv_head, place.batch};
}

// The producer's thread takes tiles, and copies their data as stages become empty, in the order of step 14: the first K
// and Q of the next tile come before the last V of this one.
template <typename tile, typename Element, int D, typename Maps, typename Shape, typename Order>
__device__ __forceinline__ void produce(shared_tiles<tile, Element, D> &smem, const Maps &maps,
                                        const Shape &shape, const Order &order) {
  ring_place<2> Q_ring;
  ring_place<tile::STAGES> K_ring, V_ring;
  const auto load_keys = [&](const tile_place &place, int block) {
    const block_place from = place_of_block(shape, maps, place, block * tile::BLOCK_N);
    fill_stage<D / PANEL>(smem.K, smem.K_full, smem.K_empty, K_ring, from.K, from.row, from.head,
                          from.batch);
  };
  const auto load_values = [&](const tile_place &place, int block) {
    const block_place from = place_of_block(shape, maps, place, block * tile::BLOCK_N);
    fill_stage<D / PANEL>(smem.V, smem.V_full, smem.V_empty, V_ring, from.V, from.row, from.head,
                          from.batch);
  };
  // Hands over Q of a tile and the tile's number. After the last tile it hands over the number alone.
  const auto load_queries = [&](const tile_place &place, int number) {
    barrier_wait(&smem.Q_empty[Q_ring.stage], Q_ring.parity ^ 1);
    smem.tile_number[Q_ring.stage] = number;
    if (number >= order.tiles) return barrier_arrive(&smem.Q_full[Q_ring.stage]);
    fill_stage<D / PANEL>(smem.Q, smem.Q_full, smem.Q_empty, Q_ring, &maps.Q, place.first_query,
                          place.head, place.batch);
  };

  int number = blockIdx.x;
  tile_place next, place = tile_in_order<tile>(shape, order, number);
  load_keys(place, 0);
  load_queries(place, number);
  while (number < order.tiles) {
    // Unrolled, the loop would take more clocks of the warp scheduler, which the producer shares with the consumers.
#pragma unroll 1
    for (int block = 0; block < place.blocks; block++) {
      // From this block on `number` and `next` belong to the next tile, and `place` still belongs to this one. If no tile
      // is left, `number` is order.tiles or more, and nothing is copied for `next`.
      if (block == max(0, place.blocks - order.ahead))
        next = tile_in_order<tile>(shape, order, take_next(order, number));
      if (block + 1 < place.blocks) {
        load_keys(place, block + 1);
      } else {
        if (number < order.tiles) load_keys(next, 0);
        load_queries(next, number);
      }
      load_values(place, block);
    }
    place = next;
  }
}

#endif
