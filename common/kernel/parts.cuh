// Parts of step 24 that are not attention: into how many parts the tiles of the last wave are divided, what a part is,
// and where the partial results lie. To be included by the step when it has defined
//   MOST_PARTS      the largest number of parts of a tile
//   divided_tiles   how many of the last tiles may be divided
#ifndef PARTS_CUH
#define PARTS_CUH

#include "kernel.cuh"
#include "merge.cuh"
#include "splits.cuh"
#include "tile_order.cuh"

// The last wave of a problem. The unit of time is what a block needs for 64 rows and 128 keys, 0.8 us on an H100.
struct last_wave {
  int tiles;   // that come last, and are divided if parts is above 1
  int parts;   // of each of them
  double time; // of the whole launch
};

// Returns the last wave in tiles of block_m rows and key blocks of block_n keys, with the number of parts for which the
// expected time is the shortest. The numbers in it were fitted to a grid of problems on an H100, as the page says.
static last_wave last_wave_of(const attention_shape &shape, int block_m, int block_n) {
  // At least 1, because tiles are divided by it: without a GPU the attribute is 0.
  const int multiprocessors = max(1, gpu_attribute(cudaDevAttrMultiProcessorCount));
  const int heads = shape.heads * shape.batch;
  const int tiles = divide_up(shape.seq_q, block_m) * heads;
  const int last = divided_tiles(shape, tiles, multiprocessors);
  const double block_time = 0.2 + 0.4 * (1 + block_m / 64) * block_n / 128;
  // Key blocks of a tile that comes after `before` others of its head.
  const auto blocks_of = [&](int before) {
    return divide_up(max(1, shape.seq_kv - (shape.causal ? before * block_m : 0)), block_n);
  };
  const auto time_of = [&](int parts) {
    // Waves of whole tiles, then waves of parts. A wave of parts takes as long as its first part, and one unit more.
    double time = block_time * (tiles / multiprocessors) * blocks_of(0);
    for (int first = 0; first < last * parts; first += multiprocessors)
      time += 1 + divide_up(blocks_of(first / parts / heads), parts) * block_time;
    // 3 units for the second kernel, and more for each partial element of O: 4 bytes are written and read again.
    return parts == 1 ? time : time + 3 + 2.5e-6 * parts * last * block_m * shape.head_dim;
  };
  if (chosen_splits > 0) return {last, chosen_splits, time_of(chosen_splits)};
  last_wave best = {last, 1, time_of(1)};
  const double worth = 0.95 * best.time; // the estimate is not exact
  for (int parts = 2; parts <= min(blocks_of(0), MOST_PARTS); parts++)
    if (time_of(parts) < fmin(worth, best.time)) best = {last, parts, time_of(parts)};
  return best;
}

// A part of a tile: the `blocks` key blocks from `first_key` on. A tile that is not divided is one part.
struct tile_part : tile_place {
  bool divided;
  size_t partial_row; // where its first row lies among the partial results
};

// A schedule whose last tiles are divided into parts. Each part counts as a tile of its own.
struct divided_schedule : schedule {
  int whole; // tiles before the first one that is divided
  // Partial results as in step 18: split s holds those of part s of every divided tile, with BLOCK_M rows of each.
  partial_results partials;
};

static constexpr size_t COUNTER_BYTES = 256; // a counter, and a pad that keeps what follows aligned

// Returns the bytes of the counter and of the partial results, or SIZE_MAX when the number does not fit.
template <typename tile, int D>
static size_t workspace_bytes(const attention_shape &shape) {
  const last_wave last = last_wave_of(shape, tile::BLOCK_M, tile::BLOCK_N);
  if (last.parts == 1) return COUNTER_BYTES;
  const size_t bytes = partial_bytes((double)last.tiles * tile::BLOCK_M, last.parts, D);
  return bytes == SIZE_MAX ? bytes : COUNTER_BYTES + bytes;
}

// Divides the tiles of the last wave of a schedule. If there are any, its tiles and parts are dealt out in turn, without
// a counter.
template <typename tile, int D>
static cudaError_t divide_last_wave(divided_schedule *order, const attention_args *args) {
  last_wave last = last_wave_of(args->shape, tile::BLOCK_M, tile::BLOCK_N);
  if (last.parts == 1) {
    last.tiles = 0;
  } else {
    order->counter = NULL;
    order->ahead = INT_MAX; // without a counter no block waits for a number
  }
  order->whole = order->tiles - last.tiles;
  order->partials = partials_at((char *)args->workspace + COUNTER_BYTES,
                                (size_t)last.tiles * tile::BLOCK_M, last.parts, D);
  const double numbers = order->whole + (double)last.tiles * last.parts;
  if (numbers > INT_MAX) return cudaErrorInvalidValue; // --splits asks for too many
  order->tiles = (int)numbers;
  order->blocks = min(gpu_attribute(cudaDevAttrMultiProcessorCount), order->tiles);
  return cudaSuccess;
}

#endif
