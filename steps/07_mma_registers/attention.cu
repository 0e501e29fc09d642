// 07_mma_registers: scores and probabilities stay in registers.
//
// wmma hides which element of a fragment a lane holds, so steps 05 and 06 write S to shared memory to find
// its rows there. The instruction below it, mma.sync, says: lane l holds columns 2 (l % 4) and the next of
// rows l / 4 and l / 4 + 8 of every 16 x 8 fragment. So four lanes share a row, its max takes two shuffles,
// and the fragments of S, rounded to 16 bits, lie just as those of P have to.
//
//             8 columns
//           +---+---+---+---+
//    row 0  | 0 | 1 | 2 | 3 |          Which lane holds what of the upper half of a fragment; rows 8 to 15
//    row 1  | 4 | 5 | 6 | 7 |          are the same again. A warp owns ROW_FRAGMENTS x 16 rows of S and O,
//     ...   |   |   |   |   |          all columns of them, and asks no other warp for anything.
//    row 7  |28 |29 |30 |31 |
//           +---+---+---+---+
//
// Cost for each head: the global bytes of step 06; from shared memory Q, K and V alone, without a pad: tiles
// are swizzled instead. What is left is the softmax, and the block barrier of every key block.
#include "kernel.cuh"
#include "ptx.cuh"
#include <cuda_pipeline.h>

static constexpr int PIECE = 8; // elements of 16 bytes: a lane's copy, and a row of an 8 x 8 matrix

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int STAGES = S; // key blocks in shared memory at once
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int KEY_FRAGMENTS = BLOCK_N / 8;
  // The largest head_dim whose tiles fit into shared memory.
  static constexpr int MAX_DIM = STAGES == 2 ? 128 : 64;
  static constexpr int BLOCKS_PER_SM = 8 / WARPS; // leaves 255 registers

  static_assert(WARP_ROWS % 16 == 0 && BLOCK_N % 16 == 0, "whole fragments");
  static_assert(WARPS <= 8 && STAGES >= 2, "registers for every thread, a stage to fill");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2)                                                                                 \
  X(128, 64, 4, 3)                                                                                 \
  X(128, 64, 8, 2)                                                                                 \
  X(128, 32, 4, 2)                                                                                 \
  X(64, 64, 4, 2)                                                                                  \
  X(64, 32, 4, 2)

// The best measured on an H200.
static const char *best_configuration(const attention_shape *) { return "128x64x4x2"; }

static constexpr int SMALLEST_DIM = 64;

// Where the 16-byte piece that begins at column d of a row lies in a [rows][D] tile. A row is a multiple of
// 128 bytes, which is all banks once: the same piece of 8 rows in turn would be in the same 4 banks. With
// its number XORed with the row's, they are in all 32. Moving by k, a multiple of 16 columns, is an XOR as
// well: swizzled(row, d + k) == (swizzled(row, d) ^ k) for d below 16.
template <int D>
__device__ __forceinline__ int swizzled(int row, int d) {
  return row * D + (d / PIECE ^ row % 8) * PIECE;
}

// Starts to copy the first `rows` rows of a [rows, D] matrix to a [TILE_ROWS][D] tile. The rest of the
// tile repeats the last row, which is cheaper than zeros. Nobody sees it: past the last key the mask
// makes the weights 0, and rows past the last query are not stored.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element *smem, const Element *matrix, int rows) {
  constexpr int LANES = D / PIECE;              // that share a row
  constexpr int COPIED = tile::THREADS / LANES; // rows at once
  static_assert(TILE_ROWS % COPIED == 0 && COPIED % 8 == 0,
                "as often for all, in rows that are swizzled alike");
  const int row = threadIdx.x / LANES;
  const int d = threadIdx.x % LANES * PIECE;
  smem += swizzled<D>(row, d);
  if (rows >= TILE_ROWS) { // nearly always: no instruction for addresses, they differ by constants
    matrix += row * D + d;
    // With blocks of 32 keys, 16 copies of Q in a row cost registers that sm_80 has not.
#pragma unroll(tile::BLOCK_N == 32 ? 8 : 16)
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[i * D], sizeof(uint4));
  } else {
#pragma unroll 1
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[min(i + row, rows - 1) * D + d], sizeof(uint4));
  }
}

// S_frag [WARP_ROWS, BLOCK_N] = Q_smem [WARP_ROWS, D] K_smem^T [D, BLOCK_N].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][tile::KEY_FRAGMENTS][4], const Element *Q_smem,
                const Element *K_smem) {
  const int lane = threadIdx.x % 32;
  // Where the pieces begin whose addresses the lane gives to ldmatrix, in the first fragment.
  const int Q_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
  const int K_lane = swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * PIECE);
  float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    // exercise: 16 columns of Q and K: fragments of Q, two of K at a time, multiplied into S_frag
    unsigned Q_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      load_matrices(Q_frag[i], &Q_smem[16 * i * D + (Q_lane ^ k)]);
    for (int n = 0; n < tile::KEY_FRAGMENTS; n += 2) {
      unsigned K_frag[4]; // two fragments of 8 keys
      load_matrices(K_frag, &K_smem[8 * n * D + (K_lane ^ k)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(S_frag[i][n + m], Q_frag[i], K_frag[2 * m], K_frag[2 * m + 1],
                                      k == 0 ? zero : S_frag[i][n + m]);
    }
    // end of exercise
  }
}

// Rounds columns k to k + 15 of probabilities to the fragment that multiplies rows k to k + 15 of V: the
// elements of two fragments of S, pair by pair, are in the lane that needs them.
template <typename Element>
__device__ __forceinline__ void round_probabilities(unsigned (&P_frag)[4], const float (&left)[4],
                                                    const float (&right)[4]) {
  // exercise: which pairs of the two fragments of S make the fragment of P
  P_frag[0] = pack_pair<Element>(left[0], left[1]);
  P_frag[1] = pack_pair<Element>(left[2], left[3]);
  P_frag[2] = pack_pair<Element>(right[0], right[1]);
  P_frag[3] = pack_pair<Element>(right[2], right[3]);
  // end of exercise
}

// O_frag [WARP_ROWS, D] += P [WARP_ROWS, BLOCK_N] V_smem [BLOCK_N, D], P being the rounded S_frag.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 8][4],
                  const float (&S_frag)[tile::ROW_FRAGMENTS][tile::KEY_FRAGMENTS][4],
                  const Element *V_smem) {
  const int lane = threadIdx.x % 32;
  const int V_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16) {
    // exercise: 16 keys: fragments of P from S_frag, two of V at a time, multiplied into O_frag
    unsigned P_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      round_probabilities<Element>(P_frag[i], S_frag[i][k / 8], S_frag[i][k / 8 + 1]);
    for (int n = 0; n < D / 8; n += 2) {
      unsigned V_frag[4]; // two fragments of 8 columns
      load_matrices_transposed(V_frag, &V_smem[k * D + (V_lane ^ 8 * n)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(O_frag[i][n + m], P_frag[i], V_frag[2 * m], V_frag[2 * m + 1],
                                      O_frag[i][n + m]);
    }
    // end of exercise
  }
}

// Sets the scores of one of the lane's rows that lie past its first `limit` keys to -infinity.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::KEY_FRAGMENTS][4], int half_row,
                                         int limit) {
  const int lane_key = threadIdx.x % 4 * 2;
  for (int n = 0; n < tile::KEY_FRAGMENTS; n++)
    for (int e = 0; e < 2; e++)
      if (8 * n + lane_key + e >= limit) S_frag[n][2 * half_row + e] = -INFINITY;
}

// The online softmax of the lane's rows: their scores become probabilities in place. `correction` becomes the factors
// that bring what was summed before to the new row max.
template <typename tile>
__device__ __forceinline__ void
softmax_rows(float (&S_frag)[tile::ROW_FRAGMENTS][tile::KEY_FRAGMENTS][4], float scale_log2,
             float (&row_max)[tile::ROW_FRAGMENTS][2], float (&row_sum)[tile::ROW_FRAGMENTS][2],
             float (&correction)[tile::ROW_FRAGMENTS][2]) {
  float new_max[tile::ROW_FRAGMENTS][2];
  float subtracted[tile::ROW_FRAGMENTS][2]; // from the scores times scale_log2
  float change[tile::ROW_FRAGMENTS][2];     // of what is subtracted, since the block before
  // Calls row(i, h) for each of the lane's rows.
  const auto for_rows = [](auto row) {
#pragma unroll
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
#pragma unroll
      for (int h = 0; h < 2; h++) row(i, h);
  };
  bool fine = true;
  for_rows([&](int i, int h) {
    float largest = row_max[i][h];
#pragma unroll
    for (int n = 0; n < tile::KEY_FRAGMENTS; n++)
      for (int e = 2 * h; e < 2 * h + 2; e++) largest = fmaxf(largest, S_frag[i][n][e]);
    // Not so for -infinity: a row that saw no key yet.
    fine = fine && fabsf(largest * scale_log2) <= 0x1p20f;
    for (int offset = 2; offset > 0; offset /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    new_max[i][h] = largest;
    subtracted[i][h] = largest * scale_log2;
    // Both products are rounded, so that the difference is exactly 0 while the max stays.
    change[i][h] = __fmul_rn(row_max[i][h], scale_log2) - subtracted[i][h];
  });
  // A rounded product is off by up to half of its last digit, and all probabilities of the row by one factor: at 2^20
  // by 2^(1/32), but at 2^29 by 2^32. Beyond, which is rare, the max is subtracted from the scores themselves; 0
  // in place of -infinity, as -inf - -inf is not a number.
  if (!__all_sync(0xffffffff, fine)) {
    for_rows([&](int i, int h) {
      if (fabsf(subtracted[i][h]) <= 0x1p20f) return;
      const float shift = new_max[i][h] == -INFINITY ? 0.0f : new_max[i][h];
#pragma unroll
      for (int n = 0; n < tile::KEY_FRAGMENTS; n++)
        for (int e = 2 * h; e < 2 * h + 2; e++) S_frag[i][n][e] -= shift;
      change[i][h] = (row_max[i][h] - shift) * scale_log2;
      subtracted[i][h] = 0.0f;
    });
  }
  for_rows([&](int i, int h) {
    correction[i][h] = exp2_approximate(change[i][h]);
    row_max[i][h] = new_max[i][h];
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < tile::KEY_FRAGMENTS; n++)
      for (int e = 2 * h; e < 2 * h + 2; e++) {
        S_frag[i][n][e] = exp2_approximate(fmaf(S_frag[i][n][e], scale_log2, -subtracted[i][h]));
        sum += S_frag[i][n][e];
      }
    row_sum[i][h] = row_sum[i][h] * correction[i][h] + sum;
  });
}

// Multiplies the lane's rows of O by their factors.
template <typename tile, int COLUMNS>
__device__ __forceinline__ void scale_output(float (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS][4],
                                             const float (&factor)[tile::ROW_FRAGMENTS][2]) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int n = 0; n < COLUMNS; n++)
      for (int e = 0; e < 4; e++) O_frag[i][n][e] *= factor[i][e / 2];
}

// Bytes of shared memory: Q, and the rings of K and V.
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = sizeof(half) * D *(tile::BLOCK_M +
                                                          2 * tile::STAGES * tile::BLOCK_N);

// O [query tile, D] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ float4 shared_memory[];
  auto Q_smem = (Element *)shared_memory;                  // [BLOCK_M][D]
  auto K_smem = Q_smem + tile::BLOCK_M * D;                // [STAGES][BLOCK_N][D]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N * D; // [STAGES][BLOCK_N][D]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * D;
  K += first_kv_row * D;
  V += first_kv_row * D;
  O += first_row * D;

  // Rows row_of(i, 0) and row_of(i, 1) of the tile are the lane's, in row fragment i.
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 * tile::WARP_ROWS;
  const auto row_of = [&](int i, int half_row) {
    return warp_row + 16 * i + 8 * half_row + lane / 4;
  };
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)): one multiply less
  float row_max[tile::ROW_FRAGMENTS][2];         // before scaling, the same in all lanes of the row
  float row_sum[tile::ROW_FRAGMENTS][2];         // over the lane's own keys
  float O_frag[tile::ROW_FRAGMENTS][D / 8][4] = {};
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int h = 0; h < 2; h++) {
      row_max[i][h] = -INFINITY;
      row_sum[i][h] = 0.0f;
    }

  // Starts the copies of a key block into its stage, as one group; an empty one past the last block, so
  // that groups can be counted.
  const auto load_block = [&](int block) {
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N * D;
    const size_t offset = (size_t)first_key * D;
    if (first_key < keys) {
      load_tile<tile, tile::BLOCK_N, D>(K_smem + first_smem, K + offset, keys - first_key);
      load_tile<tile, tile::BLOCK_N, D>(V_smem + first_smem, V + offset, keys - first_key);
    }
    __pipeline_commit();
  };
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows); // in the group of the first block
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(block);

  for (int block = 0; block * tile::BLOCK_N < keys; block++) {
    // The oldest group has arrived: the thread's own part and, past the barrier, everybody's. Past it all
    // have left the block before, too, so that its stage can be filled.
    __pipeline_wait_prior(tile::STAGES - 2);
    __syncthreads();
    load_block(block + tile::STAGES - 1);
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N * D;

    float S_frag[tile::ROW_FRAGMENTS][tile::KEY_FRAGMENTS][4];
    multiply_scores<tile, D>(S_frag, Q_smem + warp_row * D, K_smem + first_smem);
    // The warp's first row sees the fewest keys: where it sees all of the block there is nothing to mask.
    if (visible_keys(shape, first_query + warp_row) < first_key + tile::BLOCK_N) {
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int h = 0; h < 2; h++)
          mask_row<tile>(S_frag[i], h, visible_keys(shape, first_query + row_of(i, h)) - first_key);
    }
    float correction[tile::ROW_FRAGMENTS][2];
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    bool corrected = false;
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      for (int h = 0; h < 2; h++) corrected |= correction[i][h] != 1.0f;
    // To look first whether a factor of the warp is not 1 costs a branch: it pays where O is large.
    if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output<tile>(O_frag, correction);
    accumulate_output<tile, D>(O_frag, S_frag, V_smem + first_smem);
  }

  float factor[tile::ROW_FRAGMENTS][2];
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int h = 0; h < 2; h++) {
      float sum = row_sum[i][h];
      for (int offset = 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
      factor[i][h] = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that saw no key gives 0
      if (lse && lane % 4 == 0 && row_of(i, h) < rows)
        lse[first_row + row_of(i, h)] =
            sum > 0.0f ? (row_max[i][h] * scale_log2 + log2f(sum)) * LN_2 : -INFINITY;
    }
  scale_output<tile>(O_frag, factor);
  // Neighbouring lanes exchange pairs: each has 8 bytes in a row then, the four of a row a sector of 32.
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int h = 0; h < 2; h++)
      for (int n = 0; n < D / 8; n += 2) {
        const bool odd = lane % 2;
        const unsigned left = pack_pair<Element>(O_frag[i][n][2 * h], O_frag[i][n][2 * h + 1]);
        const unsigned right =
            pack_pair<Element>(O_frag[i][n + 1][2 * h], O_frag[i][n + 1][2 * h + 1]);
        const unsigned received = __shfl_xor_sync(0xffffffff, odd ? left : right, 1);
        if (row_of(i, h) < rows)
          *(uint2 *)&O[row_of(i, h) * D + 8 * (n + odd) + lane % 4 / 2 * 4] =
              odd ? make_uint2(received, right) : make_uint2(left, received);
      }
  __pipeline_wait_prior(0); // only a tile that sees no key has copies left: of Q
  __syncthreads(); // nobody reads the tiles any more: the next query tile may overwrite them
}

// One block for each (head, query tile, batch). The heads of a batch entry come together, so that their K and
// V stay in the L2 cache, and the last tiles first: with a causal mask they take longest. Where there are more
// tiles or batch entries than the grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, tile::BLOCKS_PER_SM) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.z; batch < shape.batch; batch += gridDim.z)
    for (int before = blockIdx.y; before < query_tiles; before += gridDim.y)
      attention_tile<tile, Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x,
                                       query_tiles - 1 - before);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(divide_up(shape.seq_q, tile::BLOCK_M), MAX_GRID_YZ),
                  min(shape.batch, MAX_GRID_YZ));
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

// attention_forward and the rest of the interface: launch<tile, Element, D> in the chosen configuration.
#include "configurations.cuh"
