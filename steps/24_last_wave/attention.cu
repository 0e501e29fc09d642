// 24_last_wave: the tiles of the last wave are divided among all multiprocessors.
// Needs: sm_90a
// After: 17_lazy_max
//
// Step 17 has one block on each multiprocessor, so the tiles come in waves of 132 on an H100. The last wave is seldom
// complete: of 160 tiles it has 28, and 104 multiprocessors have nothing to do. Here each of these 28 tiles is divided
// into parts. A part is some of the tile's keys, and leaves O, max and sum of each row in float32. A second kernel
// merges the parts of a row by the formula of step 18. Fewer than 132 tiles are a last wave alone.
//
//       blocks      0 .. 27           28 .. 131
//       step 17     | tile 0 .. 27    | tile 28 .. 131  |      first wave
//                   | tile 132 .. 159 |                        second wave
//       step 24     | tile 0 .. 27    | tile 28 .. 131  |
//                   | tile 132 .. 159, in 4 parts each  |      a quarter as long; then merge_kernel
//
// Cost of a part: its rows of O in float32 are written and read again. Cost of all: the launch of a second kernel.
#include "fragments.cuh"
#include "kernel.cuh"
#include "lazy_softmax.cuh"
#include "persistent.cuh"
#include "row_sums.cuh"
#include <algorithm>

// BLOCK_M, BLOCK_N, WARPS, STAGES; row_sums.cuh explains them.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 128, 8, 2)                                                                                \
  X(192, 128, 12, 3)                                                                               \
  X(256, 64, 16, 4)                                                                                \
  X(64, 128, 4, 2)

static constexpr int MOST_PARTS = 16;
static constexpr int MERGE_THREADS = 128;

// Returns how many of the last tiles are divided if that pays. Under a causal mask tiles differ in length, so there
// are no waves, and the short tiles come last and fill the gaps.
static int divided_tiles(const attention_shape &shape, int tiles, int multiprocessors) {
  // exercise: return the tiles of the last wave; under a mask return all tiles if they are fewer than a wave, else 0
  // until then: return 0;
  if (shape.causal) return tiles < multiprocessors ? tiles : 0;
  return tiles % multiprocessors;
  // end of exercise
}

#include "parts.cuh"

// Returns the tile whose expected time is the shortest, but 64 rows for the shortest sequences (fits_small_tiles). With
// a mask the formula is used only where all tiles of 64 rows fit into one wave, to choose 64 or 128 rows. Else a mask
// takes the tile of step 17, but 128 rows if there are fewer tiles of 256 rows than multiprocessors.
static const char *best_configuration(const attention_shape *shape) {
  const bool few = tiles_per_multiprocessor(*shape, 64) <= 1;
  if (!few && fits_small_tiles(*shape)) return "64x128x4x2";
  const bool wide = shape->head_dim == 128;
  if (shape->causal && !few) {
    if (wide || shape->seq_q <= 128) return "128x128x8x2";
    if (tiles_per_multiprocessor(*shape, 256) < 1) return "128x128x8x2";
    return shape->seq_q <= 4096 ? "256x64x16x4" : "192x128x12x3";
  }
  const char *const names[] = {"64x128x4x2", "128x128x8x2", "192x128x12x3", "256x64x16x4"};
  const double times[] = {last_wave_of(*shape, 64, 128).time, last_wave_of(*shape, 128, 128).time,
                          last_wave_of(*shape, 192, 128).time, last_wave_of(*shape, 256, 64).time};
  const int first = few ? 0 : 1, end = wide || shape->causal ? 2 : 4;
  return names[std::min_element(times + first, times + end) - times];
}

static constexpr int SMALLEST_DIM = 64;

// Returns the place of tile or part `number`. From order.tiles on it is the place of no tile, which no caller uses. The
// parts of a tile have neighbouring numbers and equally many key blocks, but the last ones may have fewer. A part that
// would have none takes a key block past the end, whose keys are all masked.
template <typename tile>
__device__ __forceinline__ tile_part tile_in_order(const attention_shape &shape,
                                                   const divided_schedule &order, int number) {
  const schedule &tiles = order; // its type selects the form of tile_in_order that knows no parts
  const int parts = order.partials.splits;
  const int behind = number - order.whole; // among the parts of divided tiles
  if (parts == 1 || behind < 0) return {tile_in_order<tile>(shape, tiles, number), false, 0};
  // exercise: find tile and part of the number; return the divided tile with the part's first key, blocks, partial row
  // until then: return {tile_in_order<tile>(shape, tiles, order.whole), false, 0};
  const int divided = behind / parts, part = behind % parts;
  tile_part place = {tile_in_order<tile>(shape, tiles, order.whole + divided), true, 0};
  const int length = divide_up(place.blocks, parts);
  place.first_key = part * length * tile::BLOCK_N;
  place.blocks = max(1, min(length, place.blocks - part * length));
  place.partial_row = part * order.partials.rows + (size_t)divided * tile::BLOCK_M;
  return place;
  // end of exercise
}

// All warp groups of a divided tile take all key blocks of its part. One that sees none of the keys has a result, too.
template <typename tile>
__device__ __forceinline__ int key_blocks(const attention_shape &shape, const tile_part &place,
                                          int first) {
  return place.divided ? place.blocks : key_blocks<tile>(shape, (const tile_place &)place, first);
}

// A consumer computes its 64 rows of O and lse of every tile, one key block after the other.
template <typename tile, typename Element, int D, bool LSE>
__device__ __forceinline__ void consume(shared_tiles<tile, Element, D> &smem, Element *O,
                                        float *lse, const attention_shape &shape,
                                        const divided_schedule &order, int consumer) {
  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2. Threads 0 to 127 produce.
  const int group_row = consumer * WARPGROUP_ROWS;
  const int lane_row = (threadIdx.x - 128) / 32 * tile::WARP_ROWS + threadIdx.x % 32 / 4;
  const float scale_log2 =
      shape.scale * LOG2_E;          // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max[tile::LANE_ROWS];    // before scaling, the same in all lanes of the row
  float row_sum[tile::LANE_ROWS];    // over the lane's own keys, for lse
  float subtracted[tile::LANE_ROWS]; // from the scores times scale_log2
  float correction[tile::LANE_ROWS] = {};
  float O_frag[tile::ROW_FRAGMENTS][D / 2 + 4]; // the last four are row sums of P
  float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS];
  unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
  unsigned P_next[tile::ROW_FRAGMENTS][tile::LANE_KEYS]; // not used without OVERLAP
  ring_place<2> Q_ring;
  ring_place<tile::STAGES> K_ring, V_ring;
  tile_part place = {};

  const auto wait_for_keys = [&]() { barrier_wait(&smem.K_full[K_ring.stage], K_ring.parity); };
  const auto wait_for_values = [&]() { barrier_wait(&smem.V_full[V_ring.stage], V_ring.parity); };
  // Each consumer has a named barrier for its turn: its 128 threads wait there for the 128 of the consumer before it.
  const auto wait_for_turn = [&]() {
    if (tile::CONSUMERS > 1) named_barrier_wait(1 + consumer, 256);
  };
  const auto pass_turn = [&]() {
    if (tile::CONSUMERS > 1) named_barrier_arrive(1 + (consumer + 1) % tile::CONSUMERS, 256);
  };
  // Says that the warp has read the stage. Each warp of the group says so, since each reads the tile's number itself.
  const auto release = [&](barrier *empty, auto &ring) {
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[ring.stage]);
    ring.advance();
  };
  const auto mask = [&](int block) {
    // The warp group's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const int first_key = place.first_key + block * tile::BLOCK_N;
    if (visible_keys(shape, place.first_query + group_row) < first_key + tile::BLOCK_N)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r,
                       visible_keys(shape, place.first_query + lane_row + 8 * r) - first_key);
  };
  // Returns the number of the next tile. If there is such a tile, its Q and first K have arrived.
  const auto next_tile = [&]() {
    barrier_wait(&smem.Q_full[Q_ring.stage], Q_ring.parity);
    // The number is warp-uniform; only the shuffle tells the compiler so.
    const int number = __shfl_sync(0xffffffff, smem.tile_number[Q_ring.stage], 0);
    if (number < order.tiles) wait_for_keys();
    return number;
  };
  const auto queue_scores = [&]() {
    multiply_scores<tile, D>(S_frag, smem.Q[Q_ring.stage], group_row, smem.K[K_ring.stage]);
  };
  const auto find_max = [&]() {
    find_row_max<tile>(S_frag, scale_log2, row_max, subtracted, correction);
  };
  const auto find_ordinary_max = [&]() {
    return find_ordinary_row_max<tile>(S_frag, scale_log2, row_max, subtracted, correction);
  };
  const auto exponentiate = [&](int r) {
    exponentiate_row<tile, LSE>(S_frag, r, scale_log2, subtracted[r], correction[r], row_sum[r]);
  };
  const auto try_lazy_softmax = [&](auto &P_new) {
    return lazy_softmax<tile, Element, LSE>(P_new, S_frag, scale_log2, row_max, row_sum);
  };
  const auto rescale = [&]() {
    // If all factors of the warp are 1, O stays. To ask costs a branch, and pays where O is large.
    const bool corrected = correction[0] != 1.0f || correction[1] != 1.0f;
    if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[0], correction);
  };
  const auto store = [&]() {
#pragma unroll
    for (int r = 0; r < tile::LANE_ROWS; r++) {
      const int row = lane_row + 8 * r;
      const float sum = O_frag[r / 2][D / 2 + r % 2 * 2]; // of the rounded probabilities
      const float factor = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f; // 0 if the row sees no key
      const float all = LSE ? sum_over_lanes<1, 4>(row_sum[r]) : sum; // LSE: before rounding
      // exercise: for a part, store O * all / sum, max and `all` in its partial row; then continue
      if (place.divided) {
        const size_t to = place.partial_row + row;
        // O belongs to `sum`, and lse needs `all`. A part stores one sum, `all`, so O is scaled from `sum` to `all`.
        store_partial_row<D>(order.partials.O, to, O_frag[r / 2], r % 2, row < place.rows,
                             LSE ? all * factor : 1.0f);
        if (row < place.rows && threadIdx.x % 4 == 0)
          order.partials.max_sum[to] = make_float2(row_max[r], all);
        continue;
      }
      // end of exercise
      if (LSE && row < place.rows && threadIdx.x % 4 == 0)
        lse[place.first_row + row] = (row_max[r] * scale_log2 + log2f(all)) * LN_2;
      store_row<D>(O, place.first_row + row, O_frag[r / 2], r % 2, factor, row < place.rows);
    }
  };
  int wary_tiles = 0; // for which the warp group still takes the ordinary softmax
  int known = 0;      // failures of the warp group, at the end of the tile before
  // The failures of each warp group since the launch. If a group turns wary, each of its four warps adds 2^16 to the
  // numbers of the other groups. No thread adds to a number before it is set to 0 here: the four warps of the group meet
  // at the barrier of their first turn before they report, and other groups report to it in later turns.
  __shared__ int failures_of_group[tile::CONSUMERS];
  if (threadIdx.x % 128 == 0) failures_of_group[consumer] = 0;
  const auto report = [&](int group, int failures) {
    if (tile::CONSUMERS > 1 && elect_lane())
      atomicAdd(&failures_of_group[group % tile::CONSUMERS], failures);
  };
  // Decides how the warp group takes the next tiles. The other groups add to its failures in their own turns, and its own
  // warps do so before its turn. So no thread changes the number in its turn, when its four warps read it. They read the
  // same and take the same loop, as they must, because four warps start a product together.
  const auto plan_next_tiles = [&](int blocks) {
    if (tile::CONSUMERS == 1) return; // one warp group has no turns to agree in
    const int failures = __shfl_sync(0xffffffff, failures_of_group[consumer], 0) - known;
    known += failures;
    if (wary_tiles > 0) {
      wary_tiles--;
    } else if (failures > blocks / BLOCKS_PER_FAILURE) {
      wary_tiles = WARY_TILES;
      for (int i = 1; i < tile::CONSUMERS; i++) report(consumer + i, 1 << 16); // above any share
    }
  };
  if (consumer == tile::CONSUMERS - 1) pass_turn(); // so that the first one can begin
  int number = next_tile();
  wait_for_turn();
  queue_scores();
  pass_turn();
  place = tile_in_order<tile>(shape, order, number);
  wgmma_wait<0>(S_frag[0]);
  while (number < order.tiles) {
    const int blocks = key_blocks<tile>(shape, place, group_row); // that this warp group needs
    for (int r = 0; r < tile::LANE_ROWS; r++) {
      row_max[r] = -INFINITY;
      row_sum[r] = 0.0f;
    }
    release(smem.K_empty, K_ring);
    if (blocks == 1) release(smem.Q_empty, Q_ring); // no scores of this tile are left
    mask(0);
    find_max(); // the first rows may see few keys, whose scores may all be negative
    const bool fails = rehearsal_fails<tile, Element>(S_frag, scale_log2, row_max);
    exponentiate(0);
    exponentiate(1);
    round_probabilities<Element>(P_frag[0], S_frag[0]);
    bool wary = wary_tiles > 0;
    if (!wary && blocks > 1) {
      // If one of the four warps fails, all take the wary loop. Only the shuffle tells the compiler that they agree.
      // Barriers 1 to CONSUMERS belong to the turns and the next one to the ones; then each group has its own.
      const int any = named_barrier_any(2 + tile::CONSUMERS + consumer, 128, fails);
      wary = __shfl_sync(0xffffffff, any, 0);
    }
    if (blocks > 1) wait_for_keys();
    int failures = 0; // of the warp, in this tile
    // One round queues S = Q K^T of this block and O += P V of the block before, and writes the probabilities of this
    // block to P_new, which may be the same registers as P. may_be_lazy is std::true_type or std::false_type: its value
    // is a constant for the compiler, so that the wary loop contains no lazy softmax.
    const auto one_round = [&](int block, auto &P, auto &P_new, auto may_be_lazy) {
      wait_for_turn();
      queue_scores();
      wait_for_values();
      accumulate_output<tile, D>(O_frag, P, smem.V[V_ring.stage], block == 1);
      pass_turn();
      wgmma_wait<1>(S_frag[0]); // S is complete, O may still be under way
      release(smem.K_empty, K_ring);
      if (block == blocks - 1) release(smem.Q_empty, Q_ring); // no scores of the tile are left
      mask(block);
      // Without OVERLAP the product still reads the only P. All four warps wait, also a wary one: they wait together.
      const bool early = !OVERLAP<tile, D> && may_be_lazy.value;
      if (early) {
        wgmma_wait<0>(O_frag[0]);
        release(smem.V_empty, V_ring);
      }
      const bool attempt = may_be_lazy.value && failures < FAILURES; // a wary loop counts nothing
      const bool lazy = attempt && try_lazy_softmax(P_new);
      if (!lazy) {
        if (may_be_lazy.value) failures++;
        if (!find_ordinary_max()) find_max();
        exponentiate(0); // row 0; unless the wait was early, the tensor cores add to O meanwhile
      }
      // For the next round. The branch also keeps the compiler from moving exponentials past the wait for O.
      if (block + 1 < blocks) wait_for_keys();
      if (!early) {
        wgmma_wait<0>(O_frag[0]);
        release(smem.V_empty, V_ring);
      }
      if (lazy) return;
      rescale();       // to the new row max, to which P of this block belongs
      exponentiate(1); // row 1, while the tensor cores work for the next consumer
      round_probabilities<Element>(P_new[0], S_frag[0]);
    };
    int block = 1;
    if (wary) {
      for (; block < blocks; block++) one_round(block, P_frag, P_frag, std::false_type());
    } else if constexpr (OVERLAP<tile, D>) {
      // While the products read one P, the softmax makes the next one: two sets of registers take turns.
      for (; block + 1 < blocks; block += 2) {
        one_round(block, P_frag, P_next, std::true_type());
        one_round(block + 1, P_next, P_frag, std::true_type());
      }
      if (block < blocks) {
        one_round(block, P_frag, P_next, std::true_type());
        for (int i = 0; i < tile::LANE_KEYS; i++) P_frag[0][i] = P_next[0][i]; // the last P
      }
    } else {
      for (; block < blocks; block++) one_round(block, P_frag, P_frag, std::true_type());
    }
    // The epilogue of a tile under the prologue of the next: O is stored while the next tile's scores are under way.
    wait_for_values();
    if (failures > 0) report(consumer, failures);
    wait_for_turn();
    plan_next_tiles(blocks);
    accumulate_output<tile, D>(O_frag, P_frag, smem.V[V_ring.stage], blocks == 1);
    // Only warp groups below see the blocks that are left. This one gives back their stages, and passes its turns.
#pragma unroll 1
    for (int block = blocks; block < place.blocks; block++) {
      wgmma_wait<0>(O_frag[0]);
      release(smem.V_empty, V_ring);
      pass_turn();
      wait_for_keys();
      release(smem.K_empty, K_ring);
      wait_for_values();
      wait_for_turn();
    }
    number = next_tile();
    queue_scores(); // also after the last tile, so that the wait below has a newer group than that of O
    pass_turn();
    wgmma_wait<1>(O_frag[0]);
    release(smem.V_empty, V_ring);
    store();
    place = tile_in_order<tile>(shape, order, number); // while S is under way
    wgmma_wait<0>(S_frag[0]);
  }
}

template <typename tile, typename Element, int D, bool LSE, bool DIVIDED>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          attention_shape shape, divided_schedule order) {
  if (!DIVIDED) order.partials.splits = 1; // now the compiler knows it, and leaves the parts out
  extern __shared__ __align__(32) float4 shared_memory[];
  auto &smem = aligned_tiles<shared_tiles<tile, Element, D>>(shared_memory);
  if (threadIdx.x == 0) create_barriers(smem);
  __syncthreads(); // from here on all threads may use the barriers

  // The number of the warp group is warp-uniform; only the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    take_registers_of_producer<tile::CONSUMERS>();
    if (threadIdx.x < 32 && elect_lane()) produce<tile, Element, D>(smem, maps, shape, order);
  } else {
    take_registers_of_consumer<tile::CONSUMERS>();
    fill_with_ones(smem); // while the first tiles are under way
    consume<tile, Element, D, LSE>(smem, O, lse, shape, order, warpgroup - 1);
  }
}

// Merges the parts of the divided tiles. D / 4 threads have a row, four columns each, and take its parts in order.
// So the result is the same from launch to launch.
template <typename tile, typename Element, int D>
__launch_bounds__(MERGE_THREADS) __global__
    void merge_kernel(Element *O, float *lse, attention_shape shape, divided_schedule order) {
  const partial_results &partials = order.partials;
  const size_t i = (size_t)blockIdx.x * MERGE_THREADS + threadIdx.x;
  const size_t divided_row = i / (D / 4); // among the rows of all divided tiles
  const int d = i % (D / 4) * 4;
  const int number = order.whole + (int)(divided_row / tile::BLOCK_M); // of the tile
  const tile_place place = tile_in_order<tile>(shape, (const schedule &)order, number);
  const int row = divided_row % tile::BLOCK_M;
  if (row >= place.rows) return;
  partial_row sums;
  // exercise: merge the row's parts
#pragma unroll 4
  for (int part = 0; part < partials.splits; part++) {
    const size_t from = part * partials.rows + divided_row;
    merge(sums, partials.max_sum[from], *(float4 *)&partials.O[from * D + d], shape.scale * LOG2_E);
  }
  // end of exercise
  store_merged<D>(sums, O, lse, place.first_row + row, d, shape.scale * LOG2_E);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  divided_schedule order;
  cudaError_t error = make_schedule<tile>(&order, args, stream);
  if (error == cudaSuccess) error = divide_last_wave<tile, D>(&order, args);
  if (error != cudaSuccess) return error;
  // A thread of merge_kernel has four columns of a row. A tile has a multiple of MERGE_THREADS of them: none is idle.
  const unsigned merge_blocks = (unsigned)(order.partials.rows * (D / 4) / MERGE_THREADS);
  const bool divided = merge_blocks > 0;
  const auto kernel = args->lse ? divided ? attention_kernel<tile, Element, D, true, true>
                                          : attention_kernel<tile, Element, D, true, false>
                      : divided ? attention_kernel<tile, Element, D, false, true>
                                : attention_kernel<tile, Element, D, false, false>;
  error = allow_shared_memory(kernel, SHARED_BYTES<tile, D>);
  tensor_maps maps;
  if (error == cudaSuccess) error = describe_tensors<tile>(&maps, args);
  if (error != cudaSuccess) return error;
  kernel<<<order.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(maps, (Element *)args->o,
                                                                         args->lse, shape, order);
  if (divided)
    merge_kernel<tile, Element, D>
        <<<merge_blocks, MERGE_THREADS, 0, stream>>>((Element *)args->o, args->lse, shape, order);
  return cudaGetLastError();
}

const char *attention_name(void) { return "24_last_wave"; }

const char *attention_summary(void) { return "the tiles of the last wave are divided"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
