// 16_row_sums: the sum and the max of a row cost fewer instructions.
// Needs: sm_90a
//
// In step 15 each lane adds up its probabilities, one addition for each score. Here V gets 8 more columns, all
// ones, and O += P V gives the sum of each row of P in these columns of O. Where the softmax takes longer than the
// products, the tensor cores have time for that. O and its row sums are rescaled together. The tensor cores add
// in float32, and they add exactly what they multiply, which is P rounded to 16 bits. So the errors of O and of
// its divisor cancel in part. The columns of a wgmma are a multiple of 8, so each sum comes eight times.
// For the max, one integer instruction compares three scores: floats that are not negative have the order of the
// integers with the same bits.
//
//       head_dim       8
//     +----------+---------+
//     | V        | 1  ...  | BLOCK_N     The ones are a panel of their own behind those of V, in each stage. The copy
//     +----------+---------+             engine does not write there, so the block writes them once.
//
// lse needs the sum of P before it is rounded. If the caller asks for lse, the lanes add up as in step 15, in a
// kernel of its own.
//
// Cost for each score: a multiply-add, an exponential, half a rounding, half a max, and no addition. To these comes a
// multiply-add for every eight scores, which keeps the order of the others.
// Look next at 17_lazy_max, which leaves out most of the max.
#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "persistent.cuh"
#include "tile_order.cuh"

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;   // of the consumers; the producer's four warps come on top
  static constexpr int STAGES = S;  // key blocks in shared memory at once
  static constexpr int CONSUMERS = WARPS / 4; // warp groups
  static constexpr int THREADS = 128 * (1 + CONSUMERS);
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = BLOCK_N / 4;        // of one lane, in each of its rows
  static constexpr int MAX_DIM = WARPS > 8 ? 64 : 128; // three consumers lack registers for 128

  static_assert(WARPS % 4 == 0 && WARP_ROWS == 16 && BLOCK_N % 16 == 0, "whole products");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 128, 8, 2)                                                                                \
  X(192, 128, 12, 3)                                                                               \
  X(256, 64, 16, 4)                                                                                \
  X(64, 128, 4, 2)

// The best measured on an H200 and an H100. Where tiles are few they are small, to keep more multiprocessors busy,
// and so they are for up to 128 queries. At head_dim 64, blocks of 64 keys are the best for other short sequences, and
// blocks of 128 keys for long ones. With a causal mask a sequence counts as short up to four times the length.
static const char *best_configuration(const attention_shape *shape) {
  if (tiles_per_multiprocessor(*shape, 64) <= 1) return "64x128x4x2";
  if (fits_small_tiles(*shape)) return "64x128x4x2";
  if (shape->head_dim == 128 || shape->seq_q <= 128) return "128x128x8x2";
  if (tiles_per_multiprocessor(*shape, 192) < 1) return "128x128x8x2";
  return shape->seq_q <= (shape->causal ? 4096 : 1024) ? "256x64x16x4" : "192x128x12x3";
}

static constexpr int SMALLEST_DIM = 64;
#define WORKSPACE_BYTES sizeof(unsigned long long) // of the counter that deals out the tiles

// Queues O_frag [64, D + 8] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D + 8], the part of one warp group; the caller
// waits for it. If `first` is set, O_frag = P V. V_smem has a panel of ones behind those of V. A descriptor counts in
// units of 16 bytes: a key, which is a row of 128 bytes, is 8 of them, so key k begins 8 k behind the first.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2 + 4],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL], bool first) {
  // exercise: queue the product with V and the ones behind it, 16 keys at a time
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16)
    wgmma<Element, D + 8>::registers(O_frag[0], &P_frag[0][k / 4],
                                     matrix_descriptor(V_smem[0], sizeof(V_smem[0])) + 8 * k,
                                     k == 0 && first);
  wgmma_commit();
  // end of exercise
}

// Fills the panel of ones behind V in each stage. All consumers call it, before their first product with V. The copy
// engine may fill V meanwhile, since it never writes to this panel.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void fill_with_ones(shared_tiles<tile, Element, D> &smem) {
  // exercise: let threads from 128 on write ones to panel D / PANEL of V in each stage, and make them visible
  const unsigned pair = pack_pair<Element>(1.0f, 1.0f);
  for (int stage = 0; stage < tile::STAGES; stage++)
    for (int i = threadIdx.x - 128; i < tile::BLOCK_N * PANEL / 8; i += tile::THREADS - 128)
      ((uint4 *)smem.V[stage][D / PANEL])[i] = make_uint4(pair, pair, pair, pair);
  writes_for_wgmma();
  // end of exercise
  named_barrier_wait(1 + tile::CONSUMERS, 128 * tile::CONSUMERS); // all ones are there
}

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

// The first part of the online softmax: the new row max of the lane's rows, what the second part subtracts from their
// scores times scale_log2, and in `correction` the factors that scale the sums of the blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ void
find_row_max(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             float (&row_max)[tile::LANE_ROWS], float (&subtracted)[tile::LANE_ROWS],
             float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = row_max[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) new_max[r] = fmaxf(new_max[r], of_row(S_frag, r, n));
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    // Both products are rounded, so that the factor is exactly 1 as long as the max stays.
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
  }
  subtract_large_max(S_frag, scale_log2, row_max, new_max, subtracted, correction); // rare
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = new_max[r];
}

// Returns the largest of `start` and the lane's scores of its row r, or a negative number if all of them are negative.
// Floats that are not negative have the order of the integers with the same bits, of which one instruction compares
// three. Two maxima take turns: an instruction waits for the one before it that has the same maximum.
template <typename tile>
__device__ __forceinline__ float
max_of_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], int r, float start) {
  // exercise: return the largest of `start` and the lane's scores of row r; compare three integers at a time
  // until then: return start;
  const auto bits = [&](int n) { return __float_as_int(of_row(S_frag, r, n)); };
  int largest[2] = {__float_as_int(start), bits(0)};
  for (int n = 1; n + 1 < tile::LANE_KEYS; n += 2)
    largest[n / 2 % 2] = __vimax3_s32(largest[n / 2 % 2], bits(n), bits(n + 1));
  return __int_as_float(__vimax3_s32(largest[0], largest[1], bits(tile::LANE_KEYS - 1)));
  // end of exercise
}

// Does the same as find_row_max, by maxima of integers, if none of the warp's rows has a lane whose own max is negative
// or large, and returns true. Otherwise it returns false and changes nothing.
template <typename tile>
__device__ __forceinline__ bool
find_ordinary_row_max(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
                      float (&row_max)[tile::LANE_ROWS], float (&subtracted)[tile::LANE_ROWS],
                      float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  bool ordinary = true;
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = max_of_row<tile>(S_frag, r, row_max[r]);
    ordinary = ordinary && new_max[r] >= 0.0f && product_is_small(new_max[r] * scale_log2);
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
  }
  // The vote is about the lanes' own maxima, so it does not wait for the exchange. If all of them are ordinary, so is
  // the max of each row.
  if (!__all_sync(0xffffffff, ordinary)) return false;
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
    row_max[r] = new_max[r];
  }
  return true;
}

// The second part, for the lane's row r alone: its scores become probabilities in place. ADD adds them to row_sum.
template <typename tile, bool ADD>
__device__ __forceinline__ void
exponentiate_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], int r, float scale_log2,
                 float subtracted, float correction, float &row_sum) {
  row_sum *= correction;
  for (int n = 0; n < tile::LANE_KEYS; n++) {
    float &s = of_row(S_frag, r, n);
    s = exp2_approximate(fmaf(s, scale_log2, -subtracted)); // one multiply-add
    if (ADD) row_sum += s;
    // Adds 0 times a probability. So the next eight multiply-adds wait for the first of these eight exponentials;
    // otherwise the compiler would place all of the row's multiply-adds first, and only then its exponentials.
    if (n % 8 == 7) subtracted = fmaf(of_row(S_frag, r, n - 7), 0.0f, subtracted);
  }
}

// Rounds probabilities to 16 bits: two neighbouring columns of S, rounded, are one register of P.
template <typename Element, int COUNT>
__device__ __forceinline__ void round_probabilities(unsigned *P_frag,
                                                    const float (&S_frag)[COUNT]) {
  for (int i = 0; i < COUNT / 2; i++)
    P_frag[i] = pack_pair<Element>(S_frag[2 * i], S_frag[2 * i + 1]);
}

// Multiplies the lane's two rows of O by their factors.
template <int COUNT>
__device__ __forceinline__ void scale_output(float (&O_frag)[COUNT], const float *factor) {
  for (int i = 0; i < COUNT; i++) O_frag[i] *= factor[i / 2 % 2];
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
  const auto rescale = [&]() {
    // If all factors of the warp are 1, O stays. To ask costs a branch, and pays where O is large.
    const bool corrected = correction[0] != 1.0f || correction[1] != 1.0f;
    if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[0], correction);
  };
  const auto store = [&]() {
#pragma unroll
    for (int r = 0; r < tile::LANE_ROWS; r++) {
      const int row = lane_row + 8 * r;
      // exercise: take the row's sum of the rounded probabilities from O_frag
      // until then: const float sum = 1.0f;
      const float sum = O_frag[r / 2][D / 2 + r % 2 * 2]; // of the rounded probabilities
      // end of exercise
      const float factor = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f;  // 0 if the row sees no key
      const float all = LSE ? sum_over_lanes<1, 4>(row_sum[r]) : 0.0f; // before rounding
      if (LSE && row < place.rows && threadIdx.x % 4 == 0)
        lse[place.first_row + row] = (row_max[r] * scale_log2 + log2f(all)) * LN_2;
      store_row<D>(O, place.first_row + row, O_frag[r / 2], r % 2, factor, row < place.rows);
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
    exponentiate(0);
    exponentiate(1);
    round_probabilities<Element>(P_frag[0], S_frag[0]);
    if (blocks > 1) wait_for_keys();
    for (int block = 1; block < blocks; block++) {
      wait_for_turn();
      queue_scores();
      wait_for_values();
      accumulate_output<tile, D>(O_frag, P_frag, smem.V[V_ring.stage], block == 1);
      pass_turn();
      wgmma_wait<1>(S_frag[0]); // S is complete, O may still be under way
      release(smem.K_empty, K_ring);
      if (block == blocks - 1) release(smem.Q_empty, Q_ring); // no scores of the tile are left
      mask(block);
      if (!find_ordinary_max()) find_max();
      exponentiate(0); // row 0, while the tensor cores add to O
      // For the next round. The branch also keeps the compiler from moving exponentials past the wait for O.
      if (block + 1 < blocks) wait_for_keys();
      wgmma_wait<0>(O_frag[0]);
      release(smem.V_empty, V_ring);
      rescale();       // to the new row max, to which P of this block belongs
      exponentiate(1); // row 1, while the tensor cores work for the next consumer
      round_probabilities<Element>(P_frag[0], S_frag[0]);
    }
    // The epilogue of a tile under the prologue of the next: O is stored while the next tile's scores are under way.
    wait_for_values();
    wait_for_turn();
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

const char *attention_name(void) { return "16_row_sums"; }

const char *attention_summary(void) { return "cheaper row sums and row maxima"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
