// 07_mma_registers: scores and probabilities stay in registers.
// Needs: sm_80
//
// wmma hides which element of a fragment a lane holds, so steps 05 and 06 write S to shared memory to find
// its rows there. The PTX instruction mma.sync has a layout that is documented: of every 16 x 8 fragment,
// lane l holds columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8. So four lanes share a row, two
// shuffles find its max, and the fragments of S, rounded to 16 bits, are already fragments of P.
//
//             8 columns
//           +---+---+---+---+
//    row 0  | 0 | 1 | 2 | 3 |          The number is the lane that holds a pair of columns, in the upper
//    row 1  | 4 | 5 | 6 | 7 |          half of a fragment; rows 8 to 15 are laid out in the same way. A
//     ...   |   |   |   |   |          warp owns ROW_FRAGMENTS x 16 rows of S and O with all their
//    row 7  |28 |29 |30 |31 |          columns, and exchanges nothing with other warps.
//           +---+---+---+---+
//
// Cost for each head: the global bytes of step 06; only Q, K and V pass through shared memory.
// Look next at 08_swizzle, which needs no pad and makes the copies cheap.
#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include "tiles.cuh"
#include <cuda_pipeline.h>

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

// Fragments are read 16 bytes a lane, 8 rows at once. With 16 bytes of padding a row is an odd multiple
// of 16 bytes long, so 8 rows in turn start in 8 different groups of 4 banks: no conflict. A pad of one
// element would move a row by half a bank only, and most rows would not begin at a multiple of 16 bytes.
static constexpr int PAD = 8; // elements of 2 bytes
static_assert(PAD * sizeof(half) % 16 == 0, "rows stay aligned");
static_assert((32 + PAD) * sizeof(half) / 16 % 2 == 1, "rows start in different banks");

// Starts to copy the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile and to fill the
// rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  for_each_vector<TILE_ROWS, D, tile::THREADS, 1>(
      matrix, rows, head_dim, [&](const auto *from, int row, int d, bool inside) {
        using Vector = std::decay_t<decltype(*from)>;
        if constexpr (sizeof(Vector) >= 4) // the smallest asynchronous copy
          __pipeline_memcpy_async(&smem[row][d], from, sizeof(Vector), inside ? 0 : sizeof(Vector));
        else
          *(Vector *)&smem[row][d] = inside ? *from : Vector{};
      });
}

// S_frag [WARP_ROWS, BLOCK_N] += Q_smem [WARP_ROWS, D] K_smem^T [D, BLOCK_N].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                const Element (*Q_smem)[D + PAD], const Element (*K_smem)[D + PAD]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    // exercise: take 16 columns of Q and K: load fragments of Q, two of K at a time, and multiply into S_frag
    unsigned Q_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      load_matrices(Q_frag[i], &Q_smem[16 * i + lane % 16][k + lane / 16 * 8]);
    for (int n = 0; n < tile::BLOCK_N / 8; n += 2) {
      unsigned K_frag[4]; // two fragments of 8 keys
      load_matrices(K_frag, &K_smem[8 * n + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&S_frag[i][4 * (n + m)], Q_frag[i], &K_frag[2 * m]);
    }
    // end of exercise
  }
}

// O_frag [WARP_ROWS, D] += P_frag [WARP_ROWS, BLOCK_N] V_smem [BLOCK_N, D].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[D + PAD]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16) {
    // exercise: take 16 keys: load two fragments of V at a time, and multiply P with them into O_frag
    for (int n = 0; n < D / 8; n += 2) {
      unsigned V_frag[4]; // two fragments of 8 columns
      load_matrices_transposed(V_frag, &V_smem[k + lane % 16][8 * n + lane / 16 * 8]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&O_frag[i][4 * (n + m)], &P_frag[i][k / 4], &V_frag[2 * m]);
    }
    // end of exercise
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
  // exercise: make the registers of P_frag from pairs of S_frag
  for (int i = 0; i < COUNT / 2; i++)
    P_frag[i] = pack_pair<Element>(S_frag[2 * i], S_frag[2 * i + 1]);
  // end of exercise
}

// Multiplies the lane's two rows of O by their factors.
template <int COUNT>
__device__ __forceinline__ void scale_output(float (&O_frag)[COUNT], const float *factor) {
  for (int i = 0; i < COUNT; i++) O_frag[i] *= factor[i / 2 % 2];
}

// Bytes of shared memory: Q, and the rings of K and V.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = sizeof(half) * (tile::BLOCK_M + 2 * tile::STAGES * tile::BLOCK_N) * (D + PAD);

// Computes O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto K_smem = (Element(*)[D + PAD]) shared_memory;   // [STAGES * BLOCK_N][..]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N; // [STAGES * BLOCK_N][..]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N; // [BLOCK_M][..]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
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

  // Starts the copies of a key block into its stage, as one group. Past the last block the group is empty, so
  // that the number of groups still tells which block has arrived.
  const auto load_block = [&](int block) {
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    const size_t offset = (size_t)first_key * shape.head_dim;
    if (first_key < keys) {
      load_tile<tile, tile::BLOCK_N, D>(K_smem + first_smem, K + offset, keys - first_key,
                                        shape.head_dim);
      load_tile<tile, tile::BLOCK_N, D>(V_smem + first_smem, V + offset, keys - first_key,
                                        shape.head_dim);
    }
    __pipeline_commit();
  };
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(block);
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well

  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    const int block = first_key / tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    if (tile::STAGES > 1) __pipeline_wait_prior(max(tile::STAGES - 2, 0)); // own copies are there
    __syncthreads(); // all threads see the block, and have read the stage that is filled next
    load_block(block + tile::STAGES - 1);
    if (tile::STAGES == 1) __pipeline_wait_prior(0);
    if (tile::STAGES == 1) __syncthreads(); // with one stage, the block arrives only here

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS] = {};
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, Q_smem + warp_row, K_smem + first_smem);
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
    accumulate_output<tile, D>(O_frag, P_frag, V_smem + first_smem);
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
  __syncthreads(); // all threads have read the tiles, so the next query tile may overwrite them
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile < query_tiles; query_tile += gridDim.z)
      attention_tile<tile, Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x, query_tile);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(shape.batch, MAX_GRID_YZ),
                  min(divide_up(shape.seq_q, tile::BLOCK_M), MAX_GRID_YZ));
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D><<<grid, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "07_mma_registers"; }

const char *attention_summary(void) { return "mma.sync: S and P stay in registers"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
