// 10_tma: one thread and the copy engine fill the tiles.
// Needs: sm_90a
//
// A Hopper GPU has a copy engine, the tensor memory accelerator (TMA). One thread asks it for a whole tile, and
// goes on at once. The engine works out the addresses, swizzles rows of 128 bytes as step 08 does, writes zeros
// past the end of the tensor, and reports the bytes to a barrier in shared memory (an mbarrier). The threads
// that need the tile wait at this barrier until all bytes have arrived. Products, softmax and the order of tiles
// are those of step 09.
//
//       thread 0                            copy engine                     K_full[stage]
//         announce 8192 bytes  -----------------------------------------> 0 of 8192 bytes
//         copy the box of 64 x 64  -------> rows, in swizzled places ---> 1024, 2048, ... 8192 of 8192 bytes
//       all threads  <--------------------------------------------------- the phase is complete
//
// The engine can swizzle rows of at most 128 bytes. So a tile is stored as panels of 64 columns, of which
// head_dim 64 has one and head_dim 128 has two.
//
// Cost for each head: as in step 09, but one instruction of one thread copies a whole panel, and in step 09 one
// instruction of a thread copies 16 bytes.
// Look next at 11_wgmma, whose tensor cores read the tiles from shared memory by themselves.
#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include "tile_order.cuh"

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int STAGES = S; // key blocks in shared memory at once
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = BLOCK_N / 4;        // of one lane, in each of its rows
  static constexpr int MAX_DIM = 128;

  static_assert(WARP_ROWS % 16 == 0 && BLOCK_N % 16 == 0, "whole fragments");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2)                                                                                 \
  X(128, 64, 8, 2)                                                                                 \
  X(64, 64, 4, 1)                                                                                  \
  X(64, 64, 4, 2)                                                                                  \
  X(64, 32, 4, 2)

// The best measured on an H200.
static const char *best_configuration(const attention_shape *) { return "128x64x4x2"; }

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once. They leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = 8 / tile::WARPS;

static constexpr int PIECE = 8; // elements, 16 bytes: the swizzle's unit, a row of an 8 x 8 matrix

// Where column d of row `row` lies in a [rows][D] tile, for d a multiple of PIECE. To move by k, a multiple
// of 16 columns, is an XOR as well: swizzled(row, d + k) == (swizzled(row, d) ^ k) for d below 16.
template <int D>
__device__ __forceinline__ int swizzled(int row, int d) {
  return row * D + (d / PIECE ^ row % 8) * PIECE;
}

// S_frag [WARP_ROWS, BLOCK_N] += Q_smem [WARP_ROWS, D] K_smem^T [D, BLOCK_N].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                const Element (*Q_smem)[tile::BLOCK_M][PANEL], int warp_row,
                const Element (*K_smem)[tile::BLOCK_N][PANEL]) {
  const int lane = threadIdx.x % 32;
  const int Q_lane = swizzled<PANEL>(warp_row + lane % 16, lane / 16 * PIECE);
  const int K_lane = swizzled<PANEL>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * PIECE);
#pragma unroll(UNROLLED)
  for (int k = 0; k < D; k += 16) {
    unsigned Q_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      load_matrices(Q_frag[i], Q_smem[k / PANEL][16 * i] + (Q_lane ^ k % PANEL));
    for (int n = 0; n < tile::BLOCK_N / 8; n += 2) {
      unsigned K_frag[4]; // two fragments of 8 keys
      load_matrices(K_frag, K_smem[k / PANEL][8 * n] + (K_lane ^ k % PANEL));
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&S_frag[i][4 * (n + m)], Q_frag[i], &K_frag[2 * m]);
    }
  }
}

// O_frag [WARP_ROWS, D] += P_frag [WARP_ROWS, BLOCK_N] V_smem [BLOCK_N, D].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL]) {
  const int lane = threadIdx.x % 32;
  const int V_lane = swizzled<PANEL>(lane % 16, lane / 16 * PIECE);
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16) {
    for (int n = 0; n < D / 8; n += 2) {
      unsigned V_frag[4]; // two fragments of 8 columns
      load_matrices_transposed(V_frag, V_smem[8 * n / PANEL][k] + (V_lane ^ 8 * n % PANEL));
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&O_frag[i][4 * (n + m)], &P_frag[i][k / 4], &V_frag[2 * m]);
    }
  }
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
  const int first_query = place.first_query;
  const int rows = place.rows;
  const size_t first_row = place.first_row;
  O += first_row * shape.head_dim;

  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2.
  const int warp_row = threadIdx.x / 32 * tile::WARP_ROWS;
  const int lane_row = warp_row + threadIdx.x % 32 / 4;
  const float scale_log2 =
      shape.scale * LOG2_E;       // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max[tile::LANE_ROWS]; // before scaling, the same in all lanes of the row
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = -INFINITY;
  float row_sum[tile::LANE_ROWS] = {}; // over the lane's own keys
  float O_frag[tile::ROW_FRAGMENTS][D / 2] = {};

  // Announces the bytes of K and V of a key block to the barriers of its stage, and starts the copies. One
  // thread calls it.
  const auto load_block = [&](int block) {
    // All threads have read the block that was in this stage before, and have met at the __syncthreads() since. But that
    // does not order their reads before the writes of the copy engine. This fence does.
    reads_before_copies();
    // exercise: announce the bytes of K to its barrier and start the copy; then do the same for V
    const int first_key = block * tile::BLOCK_N;
    const int stage = block % tile::STAGES;
    barrier_arrive_expecting(&smem.K_full[stage], sizeof(smem.K[stage]));
    load_tile(smem.K[stage], &maps.K, &smem.K_full[stage], first_key, place.kv_head, place.batch);
    barrier_arrive_expecting(&smem.V_full[stage], sizeof(smem.V[stage]));
    load_tile(smem.V[stage], &maps.V, &smem.V_full[stage], first_key, place.kv_head, place.batch);
    // end of exercise
  };
  // exercise: create the barriers; start the copies of Q and of the first key blocks, at most one for each stage
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
  // end of exercise

  barrier_wait(&smem.Q_full, 0);
  for (int block = 0; block < place.blocks; block++) {
    const int first_key = block * tile::BLOCK_N;
    const int stage = block % tile::STAGES;
    // exercise: wait until K and V of this block have arrived (which phase of their barriers is it?)
    const unsigned parity = block / tile::STAGES % 2; // of the lap of the ring
    barrier_wait(&smem.K_full[stage], parity);
    // V is awaited here as well, because a round that waits for it only in front of O += P V is slower.
    barrier_wait(&smem.V_full[stage], parity);
    // end of exercise

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS] = {};
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, smem.Q, warp_row, smem.K[stage]);
    if (masked)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r, visible_keys(shape, first_query + lane_row + 8 * r) - first_key);
    float correction[tile::LANE_ROWS];
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
      // If all factors of these 16 rows are 1, their O stays. To ask costs a branch, and pays where O is large.
      const bool corrected = correction[2 * i] != 1.0f || correction[2 * i + 1] != 1.0f;
      if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[i], &correction[2 * i]);
      round_probabilities<Element>(P_frag[i], S_frag[i]);
    }
    accumulate_output<tile, D>(O_frag, P_frag, smem.V[stage]);
    // exercise: refill the stage when all threads have read it, if a key block is left for it
    __syncthreads(); // all warps have read the stage, so the copy engine may overwrite it
    if (threadIdx.x == 0 && block + tile::STAGES < place.blocks) load_block(block + tile::STAGES);
    // end of exercise
  }

#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int row = lane_row + 8 * r;
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && row < rows && threadIdx.x % 4 == 0)
      lse[first_row + row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, row, O_frag[r / 2], r % 2, factor, row < rows);
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

const char *attention_name(void) { return "10_tma"; }

const char *attention_summary(void) { return "one thread and the copy engine fill the tiles"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
