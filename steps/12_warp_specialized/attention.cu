// 12_warp_specialized: one warp group copies, the others compute.
// Needs: sm_90a
//
// In step 11 all warps wait together: for a tile, for products, for the end of a round, when thread 0 starts
// the next copies. Here the first warp group is the producer. It gives most of its registers away, and one of
// its threads keeps the ring of tiles full. The other warp groups are consumers. A stage has a barrier for
// "full" and one for "empty", and K and V have stages of their own. So a consumer waits only for its tiles
// and its products, and may be up to STAGES key blocks ahead of another consumer.
//
//   producer    | K V | K V |     as soon as all consumers have read a stage
//   consumer 0  | Q K | softmax | P V | Q K | softmax | P V |
//   consumer 1  | Q K | softmax | P V | Q K | softmax | P V |     each at its own pace
//
// Cost for each head: as in step 11. A thread of a consumer has up to 240 registers.
// Look next at 13_softmax_overlap, which computes the softmax while the products go on.
#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
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
  X(192, 128, 12, 2)

// The best measured on an H200. The taller the tile, the less often K and V are read.
static const char *best_configuration(const attention_shape *shape) {
  return shape->head_dim == 64 ? "192x128x12x2" : "128x128x8x2";
}

static constexpr int SMALLEST_DIM = 64;

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of a warp group whose rows of Q
// begin at group_row; the caller waits for it. A step of 16 columns in a row of a panel is 32 bytes, which is
// 2 in the units of a descriptor.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                const Element (*Q_smem)[tile::BLOCK_M][PANEL], int group_row,
                const Element (*K_smem)[tile::BLOCK_N][PANEL]) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < D; k += 16)
    wgmma<Element, tile::BLOCK_N>::shared(
        S_frag[0], matrix_descriptor(Q_smem[k / PANEL][group_row], 0) + k % PANEL / 8,
        matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8, k == 0);
  wgmma_commit();
}

// Queues O_frag [64, D] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D], the part of one warp group; the caller
// waits for it. A step of 16 keys moves 16 rows of 128 bytes.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL]) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16)
    wgmma<Element, D>::registers(O_frag[0], &P_frag[0][k / 4],
                                 matrix_descriptor(V_smem[0][k], sizeof(V_smem[0])), false);
  wgmma_commit();
}

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has 2 of every 8 keys.
__device__ __forceinline__ int lane_key(int n) { return n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2; }

// Sets the lane's scores of its row r to -infinity, from key number `limit` of the key block on.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                                         int r, int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (lane_key(n) >= limit) of_row(S_frag, r, n) = -INFINITY;
}

// The online softmax of the lane's rows: its scores become probabilities in place. `correction` receives the
// factors that scale the sums of the blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ void
softmax_rows(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             float (&row_max)[tile::LANE_ROWS], float (&row_sum)[tile::LANE_ROWS],
             float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  float subtracted[tile::LANE_ROWS]; // from the scores times scale_log2
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = row_max[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) new_max[r] = fmaxf(new_max[r], of_row(S_frag, r, n));
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    // Both products are rounded, so that the factor is exactly 1 as long as the max stays.
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
  }
  subtract_large_max(S_frag, scale_log2, row_max, new_max, subtracted, correction); // rare
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    row_max[r] = new_max[r];
    row_sum[r] *= correction[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) {
      float &s = of_row(S_frag, r, n);
      s = exp2_approximate(fmaf(s, scale_log2, -subtracted[r])); // one multiply-add
      row_sum[r] += s;
    }
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
  // exercise: announce and copy Q; then K and V of each key block
  barrier_arrive_expecting(&smem.Q_full, sizeof(smem.Q));
  load_tile(smem.Q, &maps.Q, &smem.Q_full, place.first_query, place.head, place.batch);
  for (int block = 0; block < place.blocks; block++) {
    load_keys(place, block);
    load_values(place, block);
  }
  // end of exercise
}

// A consumer computes its 64 rows of O and lse of the query tile, one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void consume(shared_tiles<tile, Element, D> &smem, Element *O,
                                        float *lse, const attention_shape &shape,
                                        const tile_place &place, int consumer) {
  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2. Threads 0 to 127 produce.
  const int group_row = consumer * WARPGROUP_ROWS;
  const int lane_row = (threadIdx.x - 128) / 32 * tile::WARP_ROWS + threadIdx.x % 32 / 4;
  const float scale_log2 =
      shape.scale * LOG2_E;       // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max[tile::LANE_ROWS]; // before scaling, the same in all lanes of the row
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = -INFINITY;
  float row_sum[tile::LANE_ROWS] = {}; // over the lane's own keys
  float correction[tile::LANE_ROWS] = {};
  float O_frag[tile::ROW_FRAGMENTS][D / 2] = {};
  float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS];
  unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
  ring_place<tile::STAGES> K_ring, V_ring;

  const auto wait_for_keys = [&]() { barrier_wait(&smem.K_full[K_ring.stage], K_ring.parity); };
  const auto wait_for_values = [&]() { barrier_wait(&smem.V_full[V_ring.stage], V_ring.parity); };
  // Says that the warp has read the stage. One arrival for each warp group would do for what products read, since a
  // product is complete for its four warps at once. But from step 15 on each warp also reads the number of a tile.
  const auto release = [&](barrier *empty, auto &ring) {
    // exercise: let one lane of each warp arrive; then go on to the next stage of the ring
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[ring.stage]);
    ring.advance();
    // end of exercise
  };
  const auto mask = [&](int block) {
    // The warp group's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const int first_key = block * tile::BLOCK_N;
    if (visible_keys(shape, place.first_query + group_row) < first_key + tile::BLOCK_N)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r,
                       visible_keys(shape, place.first_query + lane_row + 8 * r) - first_key);
  };
  const auto queue_scores = [&]() {
    multiply_scores<tile, D>(S_frag, smem.Q, group_row, smem.K[K_ring.stage]);
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
      const float sum = sum_over_lanes<1, 4>(row_sum[r]);
      const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
      if (lse && row < place.rows && threadIdx.x % 4 == 0)
        lse[place.first_row + row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
      store_row<D>(O, place.first_row + row, O_frag[r / 2], r % 2, factor, row < place.rows);
    }
  };

  barrier_wait(&smem.Q_full, 0);
  for (int block = 0; block < place.blocks; block++) {
    // exercise: wait for K, queue S, wait for V, then S; compute P and rescale O; add P V to O; release K and V
    wait_for_keys();
    queue_scores();
    wait_for_values(); // while S is under way
    wgmma_wait<0>(S_frag[0]);
    release(smem.K_empty, K_ring);
    mask(block);
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    rescale();
    round_probabilities<Element>(P_frag[0], S_frag[0]);
    accumulate_output<tile, D>(O_frag, P_frag, smem.V[V_ring.stage]);
    wgmma_wait<0>(O_frag[0]);
    release(smem.V_empty, V_ring);
    // end of exercise
  }
  store();
}

template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          attention_shape shape, numbered_tiles tiles) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto &smem = aligned_tiles<shared_tiles<tile, Element, D>>(shared_memory);
  const tile_place place = tile_in_order<tile>(shape, tiles, blockIdx.x); // the order of step 09
  if (threadIdx.x == 0) {
    barrier_create(&smem.Q_full, 1);
    barrier_create_all(smem.K_full, 1);
    barrier_create_all(smem.V_full, 1);
    barrier_create_all(smem.K_empty, tile::WARPS);
    barrier_create_all(smem.V_empty, tile::WARPS);
    barriers_created();
  }
  __syncthreads(); // from here on all threads may use the barriers

  // The number of the warp group is warp-uniform; only the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    take_registers_of_producer<tile::CONSUMERS>();
    if (threadIdx.x == 0) produce<tile, Element, D>(smem, maps, place);
  } else {
    take_registers_of_consumer<tile::CONSUMERS>();
    consume<tile, Element, D>(smem, O, lse, shape, place, warpgroup - 1);
  }
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(all_tiles<tile>(shape));
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  tensor_maps maps;
  if (error == cudaSuccess) error = describe_tensors<tile>(&maps, args);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D><<<grid, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
      maps, (Element *)args->o, args->lse, shape, number_tiles<tile>(shape));
  return cudaGetLastError();
}

const char *attention_name(void) { return "12_warp_specialized"; }

const char *attention_summary(void) { return "a producer warp group, and consumers"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
