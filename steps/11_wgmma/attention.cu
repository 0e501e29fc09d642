// 11_wgmma: four warps multiply together, straight from shared memory, and asynchronously.
// Needs: sm_90a
//
// wgmma is the product of a whole warp group of four warps. It reads Q, K and V from shared memory by itself,
// so no warp loads fragments of them any more; P still comes from registers. And it is asynchronous: the warps
// queue a product, go on, and wait for it where they need its result. Until then the registers of the result
// belong to the tensor cores. S and O lie in registers as after mma.sync, so that the softmax stays as it is.
//
//              BLOCK_N or D
//           +---------------+
//           | warp group 0  | 64        Both read the same tiles of K and V. In each of them, warp w owns rows
//           +---------------+           16 w to 16 w + 15, and its lanes hold fragments as in step 07.
//           | warp group 1  | 64
//           +---------------+
//
// Cost for each head: as in step 10, but a tile of K or V is read from shared memory once for 64 rows, where
// step 10 reads it once for 32. All warps still wait for the same block at the same time.
// Look next at 12_warp_specialized, which gives copies and products to different warps.
#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "tile_order.cuh"

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;   // four of them are a warp group
  static constexpr int STAGES = S;  // key blocks in shared memory at once
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = BLOCK_N / 4;        // of one lane, in each of its rows
  static constexpr int MAX_DIM =
      WARPS > 8 ? 64 : 128; // three warp groups have too few registers for 128

  static_assert(WARPS % 4 == 0 && WARP_ROWS == 16 && BLOCK_N % 16 == 0, "whole products");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 128, 8, 2)                                                                                \
  X(192, 128, 12, 2)                                                                               \
  X(64, 128, 4, 2)                                                                                 \
  X(64, 64, 4, 2)

// The best measured on an H200.
static const char *best_configuration(const attention_shape *) { return "128x128x8x2"; }

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once. With at most 8 warps in a block they leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = tile::WARPS > 8 ? 1 : 8 / tile::WARPS;

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of a warp group whose rows of Q
// begin at group_row; the caller waits for it. A step of 16 columns in a row of a panel is 32 bytes, which is
// 2 in the units of a descriptor.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                const Element (*Q_smem)[tile::BLOCK_M][PANEL], int group_row,
                const Element (*K_smem)[tile::BLOCK_N][PANEL]) {
  // exercise: queue the product, 16 columns of Q and K at a time, by descriptors
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < D; k += 16)
    wgmma<Element, tile::BLOCK_N>::shared(
        S_frag[0], matrix_descriptor(Q_smem[k / PANEL][group_row], 0) + k % PANEL / 8,
        matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8, k == 0);
  wgmma_commit();
  // end of exercise
}

// Queues O_frag [64, D] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D], the part of one warp group; the caller
// waits for it. A step of 16 keys moves 16 rows of 128 bytes.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL]) {
  // exercise: queue the product, 16 keys at a time; P comes from registers
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16)
    wgmma<Element, D>::registers(O_frag[0], &P_frag[0][k / 4],
                                 matrix_descriptor(V_smem[0][k], sizeof(V_smem[0])), false);
  wgmma_commit();
  // end of exercise
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
};
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = ALIGNED_BYTES<shared_tiles<tile, half, D>>;

// Computes O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          attention_shape shape, numbered_tiles tiles) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto &smem = aligned_tiles<shared_tiles<tile, Element, D>>(shared_memory);
  const tile_place place = tile_in_order<tile>(shape, tiles, blockIdx.x); // the order of step 09

  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2.
  const int warp_row = threadIdx.x / 32 * tile::WARP_ROWS;
  const int lane_row = warp_row + threadIdx.x % 32 / 4;
  // The warp group's first row is warp-uniform; only the shuffle tells the compiler so.
  const int group_row = __shfl_sync(0xffffffff, threadIdx.x / 128, 0) * WARPGROUP_ROWS;
  const float scale_log2 =
      shape.scale * LOG2_E;       // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max[tile::LANE_ROWS]; // before scaling, the same in all lanes of the row
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = -INFINITY;
  float row_sum[tile::LANE_ROWS] = {}; // over the lane's own keys
  float O_frag[tile::ROW_FRAGMENTS][D / 2] = {};

  // Announces the bytes of K and V of a key block to the barriers of its stage, and starts the copies. One
  // thread calls it.
  const auto load_block = [&](int block) {
    const int first_key = block * tile::BLOCK_N;
    const int stage = block % tile::STAGES;
    barrier_arrive_expecting(&smem.K_full[stage], sizeof(smem.K[stage]));
    load_tile(smem.K[stage], &maps.K, &smem.K_full[stage], first_key, place.kv_head, place.batch);
    barrier_arrive_expecting(&smem.V_full[stage], sizeof(smem.V[stage]));
    load_tile(smem.V[stage], &maps.V, &smem.V_full[stage], first_key, place.kv_head, place.batch);
  };
  if (threadIdx.x == 0) {
    barrier_create(&smem.Q_full, 1);
    barrier_create_all(smem.K_full, 1);
    barrier_create_all(smem.V_full, 1);
    barriers_created();
    barrier_arrive_expecting(&smem.Q_full, sizeof(smem.Q));
    load_tile(smem.Q, &maps.Q, &smem.Q_full, place.first_query, place.head, place.batch);
    for (int block = 0; block < min(tile::STAGES, place.blocks); block++) load_block(block);
  }
  __syncthreads(); // from here on all threads may use the barriers

  barrier_wait(&smem.Q_full, 0);
  for (int block = 0; block < place.blocks; block++) {
    const int first_key = block * tile::BLOCK_N;
    const int stage = block % tile::STAGES;
    const unsigned parity = block / tile::STAGES % 2; // of the lap of the ring
    barrier_wait(&smem.K_full[stage], parity);

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, place.first_query) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS];
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, smem.Q, group_row, smem.K[stage]);
    // exercise: wait for V while S is under way, and then for S
    // V is awaited while S is under way, because a wait behind the softmax would cost time.
    barrier_wait(&smem.V_full[stage], parity);
    wgmma_wait<0>(S_frag[0]); // until here the registers of S belong to the tensor cores
    // end of exercise
    if (masked)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r,
                       visible_keys(shape, place.first_query + lane_row + 8 * r) - first_key);
    float correction[tile::LANE_ROWS];
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
      // If all factors of the warp are 1, O stays. To ask costs a branch, and pays where O is large.
      const bool corrected = correction[2 * i] != 1.0f || correction[2 * i + 1] != 1.0f;
      if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[i], &correction[2 * i]);
      round_probabilities<Element>(P_frag[i], S_frag[i]);
    }
    // exercise: queue O += P V and wait for it; when all threads have read the stage, refill it if a key block is left
    accumulate_output<tile, D>(O_frag, P_frag, smem.V[stage]);
    wgmma_wait<0>(O_frag[0]); // the registers of O and P are the warp group's own again
    __syncthreads(); // all warp groups have read the stage, so the copy engine may overwrite it
    if (threadIdx.x == 0 && block + tile::STAGES < place.blocks) load_block(block + tile::STAGES);
    // end of exercise
  }

#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int row = lane_row + 8 * r;
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && row < place.rows && threadIdx.x % 4 == 0)
      lse[place.first_row + row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, place.first_row + row, O_frag[r / 2], r % 2, factor, row < place.rows);
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

const char *attention_name(void) { return "11_wgmma"; }

const char *attention_summary(void) { return "products of four warps, from shared memory"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
