// 17_lazy_max: most key blocks need no row max.
// Needs: sm_90a
//
// Softmax is exact for any number m in place of the row max, as long as exp(s - m) neither overflows nor vanishes. So
// after the first key block of a row the step keeps the old max: no new max, no shuffles, no factor for O. The largest
// probability of the block tells afterwards whether a score was too large. Then S is still in its registers, and the
// warp computes the block again with the ordinary softmax. A warp that does so twice in a tile turns wary: it takes the
// ordinary softmax for the rest of it. After a tile with many such blocks the thread block is wary for some tiles, in a
// loop of its own, and so is a warp group for a tile whose first block foretells them. FlashAttention-4 keeps the old
// max too, up to a threshold, but takes the max of each block.
//
//   block      0          1       2                 3       4                 5          ... of the tile
//   softmax    ordinary   lazy    lazy, ordinary    lazy    lazy, ordinary    ordinary
//                                 too large a score         once more         the warp is wary
// Cost for each score: one multiply-add, one exponential, half a rounding, a quarter of a max.
// Look next at 24_last_wave, which divides the tiles of the last wave, or with several GPUs at 21_gather.
#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "persistent.cuh"
#include "row_sums.cuh"
#include "tile_order.cuh"
#include <type_traits>

// BLOCK_M, BLOCK_N, WARPS, STAGES; row_sums.cuh explains them.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 128, 8, 2)                                                                                \
  X(192, 128, 12, 3)                                                                               \
  X(256, 64, 16, 4)                                                                                \
  X(64, 128, 4, 2)

// The best measured on an H200 and an H100. Where tiles are few they are small, to keep more multiprocessors busy,
// and so they are for short sequences. At head_dim 64 a row takes 1 to 3 % less time in a tile of 192 rows than in one
// of 256, and less still with the ordinary softmax. But a multiprocessor computes whole tiles: the rows of the busiest
// one are compared, and 256 must save about 4 % of them. Under a causal mask tiles differ in length, and seq_q decides.
static const char *best_configuration(const attention_shape *shape) {
  if (tiles_per_multiprocessor(*shape, 64) <= 1) return "64x128x4x2";
  if (fits_small_tiles(*shape)) return "64x128x4x2";
  if (shape->head_dim == 128 || shape->seq_q <= 128) return "128x128x8x2";
  if (tiles_per_multiprocessor(*shape, 192) < 1) return "128x128x8x2";
  if (shape->causal) return shape->seq_q <= 4096 ? "256x64x16x4" : "192x128x12x3";
  const double of_192 = 192 * ceil(tiles_per_multiprocessor(*shape, 192));
  const double of_256 = 256 * ceil(tiles_per_multiprocessor(*shape, 256));
  return of_192 > 1.04 * of_256 ? "256x64x16x4" : "192x128x12x3";
}

static constexpr int SMALLEST_DIM = 64;
#define WORKSPACE_BYTES sizeof(unsigned long long) // of the counter that deals out the tiles

// Whether the lazy softmax runs under products of its own warp group as well, and not only under those of the
// others. It needs a second P, since S must be kept until P is known to be good, and registers for it. At head_dim 64
// a second P pays only where there are no others.
template <typename tile, int D>
static constexpr bool OVERLAP = D == 128 || tile::CONSUMERS == 1;

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has 2 of every 8 keys.
__device__ __forceinline__ int lane_key(int n) { return n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2; }

// Sets the lane's scores of its row r to -infinity, from key number `limit` of the key block on. Both sides of the
// comparison count from the lane's first key, so that the left one is a constant.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                                         int r, int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (n / 2 * 8 + n % 2 >= limit - lane_key(0)) of_row(S_frag, r, n) = -INFINITY;
}

// The old max may stay while the largest probability is at most 2^15 in fp16, the last power of 2 there, or 2^64 in
// bf16. LAZY_LIMIT has the bits of this number, because bits are compared. rehearsal_fails, below, compares scores times
// scale_log2, which are exponents of 2. Its limit, REHEARSAL_LOG2, is lower: about four fifths of 15 or of 64.
template <typename Element>
static constexpr unsigned LAZY_LIMIT = std::is_same<Element, half>::value ? 0x7800 : 0x5F80;
template <typename Element>
static constexpr float REHEARSAL_LOG2 = std::is_same<Element, half>::value ? 12.0f : 51.0f;

// A warp fails at a key block if its old max is too small, or if it is wary, as it is for the rest of a tile in which
// it has failed FAILURES times. If the four warps of a group fail more often together than once for BLOCKS_PER_FAILURE
// key blocks of a tile, their thread block is wary for WARY_TILES tiles, which run in a loop that counts no failures.
static constexpr int FAILURES = 2;
static constexpr int BLOCKS_PER_FAILURE = 16;
static constexpr int WARY_TILES = 64;

// The lazy softmax of the lane's rows: computes P_frag from S_frag with the old row max, and row_sum if ADD is
// set. Returns false, with S_frag and row_sum unchanged, if that max is too small for a row of the warp.
template <typename tile, typename Element, bool ADD>
__device__ __forceinline__ bool
lazy_softmax(unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
             const float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             const float (&row_max)[tile::LANE_ROWS], float (&row_sum)[tile::LANE_ROWS]) {
  const float subtracted[2] = {row_max[0] * scale_log2, row_max[1] * scale_log2};
  bool fits = product_is_small(subtracted[0]) && product_is_small(subtracted[1]);
  float sum[2][2] = {}; // of each row: of the left and of the right numbers of its pairs
  unsigned largest = 0; // of each half of a register, as integers: NaN is above all numbers
#pragma unroll
  for (int i = 0; i < tile::LANE_KEYS; i++) { // pairs of the one row and of the other, in turn
    // exercise: compute two probabilities with the old row max; add them to their sums; round them; keep the largest
    const int r = i % 2;
    const float *pair = &S_frag[0][2 * i];
    const float left = exp2_approximate(fmaf(pair[0], scale_log2, -subtracted[r]));
    const float right = exp2_approximate(fmaf(pair[1], scale_log2, -subtracted[r]));
    if (ADD) sum[r][0] += left;
    if (ADD) sum[r][1] += right;
    P_frag[0][i] = pack_pair<Element>(left, right);
    if (i % 2) largest = __vimax3_u16x2(largest, P_frag[0][i - 1], P_frag[0][i]);
    // end of exercise
  }
  // exercise: return false unless fits and largest within the limit, in all lanes; else add the sums and return true
  // until then: return true;
  fits = fits && (largest & 0xffff) <= LAZY_LIMIT<Element> && largest >> 16 <= LAZY_LIMIT<Element>;
  if (!__all_sync(0xffffffff, fits)) return false;
  for (int r = 0; r < tile::LANE_ROWS; r++) row_sum[r] += sum[r][0] + sum[r][1];
  return true;
  // end of exercise
}

// Rehearses the lazy softmax in a tile's first block, as if the max of the first half of its keys were the old one.
// Returns true if that max is too small for a row of the warp, so that the rows of the tile are likely to fail.
template <typename tile, typename Element>
__device__ __forceinline__ bool
rehearsal_fails(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
                const float (&row_max)[tile::LANE_ROWS]) {
  unsigned failed = 0; // bit 4 i is set if a row of lanes 4 i to 4 i + 3 has too small a max
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    float old_max = -INFINITY;
    for (int n = 0; n < tile::LANE_KEYS / 2; n++) old_max = fmaxf(old_max, of_row(S_frag, r, n));
    // The row's max in that half is the largest of the numbers of its four lanes. So it is too small only if each is.
    const unsigned lanes =
        __ballot_sync(0xffffffff, (row_max[r] - old_max) * scale_log2 > REHEARSAL_LOG2<Element>);
    failed |= lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & 0x11111111;
  }
  return failed != 0;
}

// A consumer computes its 64 rows of O and lse of every tile, one key block after the other.
template <typename tile, typename Element, int D, bool LSE>
__device__ __forceinline__ void consume(shared_tiles<tile, Element, D> &smem, Element *O,
                                        float *lse, const attention_shape &shape,
                                        const schedule &order, int consumer) {
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
  tile_place place = {};

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
    const int first_key = block * tile::BLOCK_N;
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
      const float factor = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f;  // 0 if the row sees no key
      const float all = LSE ? sum_over_lanes<1, 4>(row_sum[r]) : 0.0f; // before rounding
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
      // exercise: be lazy if `attempt`; else or if it fails, failures++ if may_be_lazy.value, find max, compute row 0
      // until then: const bool lazy = false;
      const bool lazy = attempt && try_lazy_softmax(P_new);
      if (!lazy) {
        if (may_be_lazy.value) failures++;
        if (!find_ordinary_max()) find_max();
        exponentiate(0); // row 0; unless the wait was early, the tensor cores add to O meanwhile
      }
      // end of exercise
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

template <typename tile, typename Element, int D, bool LSE>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          attention_shape shape, schedule order) {
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

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  schedule order;
  const auto kernel = args->lse ? attention_kernel<tile, Element, D, true>
                                : attention_kernel<tile, Element, D, false>;
  cudaError_t error = allow_shared_memory(kernel, SHARED_BYTES<tile, D>);
  tensor_maps maps;
  if (error == cudaSuccess) error = describe_tensors<tile>(&maps, args);
  if (error == cudaSuccess) error = make_schedule<tile>(&order, args, stream);
  if (error != cudaSuccess) return error;
  kernel<<<order.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(maps, (Element *)args->o,
                                                                         args->lse, shape, order);
  return cudaGetLastError();
}

const char *attention_name(void) { return "17_lazy_max"; }

const char *attention_summary(void) { return "most key blocks need no row max"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
