// The order in which the scheduler of step 15 hands out tiles, for test_tile_order.c.
#include "tile_order.cuh"

struct rows_and_keys {
  static constexpr int BLOCK_M = 64, BLOCK_N = 64;
};

// found [tiles][5] = batch entry, query head, key/value head, first query and first row of O of each tile.
static __global__ void places_kernel(attention_shape shape, schedule order, int *found) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < order.tiles;
       i += gridDim.x * blockDim.x) {
    const tile_place place = tile_in_order<rows_and_keys>(shape, order, i);
    int *tile = found + 5 * (size_t)i;
    tile[0] = place.batch;
    tile[1] = place.head;
    tile[2] = place.kv_head;
    tile[3] = place.first_query;
    tile[4] = (int)place.first_row;
  }
}

// The places of all tiles of 64 rows in their order, in device memory for `most` of them. heads_of_sections receives how
// many heads each section but the last has, how many all of these have together, and how many the last one has.
extern "C" cudaError_t places(const attention_args *args, int most, int *found,
                              int heads_of_sections[3]) {
  schedule order;
  const cudaError_t error = make_schedule<rows_and_keys>(&order, args, NULL);
  if (error != cudaSuccess) return error;
  if (order.tiles > most) return cudaErrorInvalidValue;
  heads_of_sections[0] = order.section_heads;
  heads_of_sections[1] = order.earlier_heads;
  heads_of_sections[2] = order.last_heads;
  places_kernel<<<8, 128>>>(args->shape, order, found);
  return cudaDeviceSynchronize();
}
