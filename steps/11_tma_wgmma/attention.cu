// 11_tma_wgmma: one thread asks for a tile, and four warps multiply it at once.
// Needs: sm_90a
//
// Hopper has a copy engine (TMA) and products of a whole warp group of four warps (wgmma). One thread starts
// the copy of a whole tile. The engine swizzles the tile and writes zeros past the end of the tensor, and a
// barrier in shared memory counts the bytes that arrive. wgmma reads Q, K and V from shared memory by itself,
// so no warp loads fragments of them any more. S and O are in registers as in step 07, and P goes from
// registers to the second product.
//
//              BLOCK_N or D
//           +---------------+
//           | warp group 0  | 64        Both read the same tiles of K and V. In each of them, warp w owns rows
//           +---------------+           16 w to 16 w + 15, and its lanes hold fragments as in step 07.
//           | warp group 1  | 64
//           +---------------+
//
// A tile lies in shared memory as panels of 64 columns. A row of a panel has 128 bytes, which is the longest
// row that the engine can swizzle.
//
// Cost for each head: as in step 09, but tiles of K and V are read from shared memory once for 64 rows, where
// step 09 reads them once for 32. The softmax is that of step 07, in softmax.cuh. All warps still wait for
// the same block at the same time.
// Look next at 14_warp_specialized, which gives copies and products to different warps.
#include "hopper.cuh"
#include "kernel.cuh"
#include "softmax.cuh"

static constexpr int BLOCK_N = 128; // keys of a block
static constexpr int STAGES = 2;    // key blocks in shared memory at once
static constexpr int WARPGROUPS = 2;
static constexpr int BLOCK_M = WARPGROUPS * WARPGROUP_ROWS; // query rows of a tile
static constexpr int THREADS = 128 * WARPGROUPS;

// The shared memory of a block. Tiles start at multiples of 1024 bytes.
template <typename Element, int D>
struct shared_tiles {
  Element Q[WARPGROUPS][D / PANEL][WARPGROUP_ROWS][PANEL];
  Element K[STAGES][D / PANEL][BLOCK_N][PANEL];
  Element V[STAGES][D / PANEL][BLOCK_N][PANEL];
  barrier Q_full;
  barrier K_full[STAGES], V_full[STAGES]; // complete when the tile has arrived
};
template <typename Element, int D>
static constexpr size_t SHARED_BYTES = sizeof(shared_tiles<Element, D>) + 1024; // to align it

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of one warp group; the caller
// waits for it. A step of 16 columns moves 32 bytes, which is 2 in the units of a descriptor.
template <int D, typename Element>
__device__ __forceinline__ void multiply_scores(float (&S_frag)[BLOCK_N / 2],
                                                const Element (*Q_smem)[WARPGROUP_ROWS][PANEL],
                                                const Element (*K_smem)[BLOCK_N][PANEL]) {
  // exercise: queue the product, 16 columns of Q and K at a time, by descriptors
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < D; k += 16)
    wgmma<Element, BLOCK_N>::shared(S_frag, matrix_descriptor(Q_smem[k / PANEL], 0) + k % PANEL / 8,
                                    matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8,
                                    k == 0);
  wgmma_commit();
  // end of exercise
}

// Queues O_frag [64, D] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D], the part of one warp group; the caller
// waits for it. A step of 16 keys moves 16 rows of 128 bytes.
template <int D, typename Element>
__device__ __forceinline__ void accumulate_output(float (&O_frag)[D / 2],
                                                  const unsigned (&P_frag)[BLOCK_N / 4],
                                                  const Element (*V_smem)[BLOCK_N][PANEL]) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < BLOCK_N; k += 16)
    wgmma<Element, D>::registers(O_frag, &P_frag[k / 4],
                                 matrix_descriptor(V_smem[0][k], sizeof(V_smem[0])), false);
  wgmma_commit();
}

// Each block computes O [query tile, D] and lse [query tile] for one (query tile, head, batch).
template <typename Element, int D>
__launch_bounds__(THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ CUtensorMap Q_map,
                          const __grid_constant__ CUtensorMap K_map,
                          const __grid_constant__ CUtensorMap V_map, Element *O, float *lse,
                          attention_shape shape) {
  extern __shared__ unsigned char shared_memory[];
  auto &smem =
      *(shared_tiles<Element, D> *)(shared_memory + (-shared_address(shared_memory) & 1023));

  const int query_tile = shape.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x; // longest first
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const int first_query = query_tile * BLOCK_M;
  const int rows = min(BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const int blocks = divide_up(max(keys, 1), BLOCK_N); // if no row sees a key, one masked block
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;

  // Starts the copies of key block `block` into its stage. One thread calls it.
  const auto load_block = [&](int block) {
    // exercise: announce the bytes of K to its barrier and start the copy; then do the same for V
    const int stage = block % STAGES;
    barrier_arrive_expecting(&smem.K_full[stage], sizeof(smem.K[stage]));
    load_tile<D / PANEL>(smem.K[stage], &K_map, &smem.K_full[stage], block * BLOCK_N, kv_head,
                         batch);
    barrier_arrive_expecting(&smem.V_full[stage], sizeof(smem.V[stage]));
    load_tile<D / PANEL>(smem.V[stage], &V_map, &smem.V_full[stage], block * BLOCK_N, kv_head,
                         batch);
    // end of exercise
  };
  if (threadIdx.x == 0) {
    barrier_create(&smem.Q_full, 1);
    barrier_create_all(smem.K_full, 1);
    barrier_create_all(smem.V_full, 1);
    barriers_created();
    barrier_arrive_expecting(&smem.Q_full, sizeof(smem.Q));
    for (int i = 0; i < WARPGROUPS; i++)
      load_tile<D / PANEL>(smem.Q[i], &Q_map, &smem.Q_full, first_query + i * WARPGROUP_ROWS, head,
                           batch);
    for (int block = 0; block < min(STAGES, blocks); block++) load_block(block);
  }
  __syncthreads(); // from here on all threads may use the barriers

  // The lane has a part of rows first_lane_row and first_lane_row + 8 of the tile. The number of the warp
  // group is warp-uniform; only the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  const int first_lane_row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)) saves a multiply
  float row_max[2] = {-INFINITY, -INFINITY};     // before scaling, the same in all lanes of the row
  float row_sum[2] = {0.0f, 0.0f};               // over the lane's own keys
  float O_frag[D / 2] = {};

  barrier_wait(&smem.Q_full, 0);
  for (int block = 0; block < blocks; block++) {
    const int stage = block % STAGES;
    const int first_key = block * BLOCK_N;
    // exercise: wait until K of this block has arrived (which phase of the barrier is it?)
    barrier_wait(&smem.K_full[stage], block / STAGES % 2); // the parity of the stage's round
    // end of exercise

    float S_frag[BLOCK_N / 2];
    multiply_scores<D>(S_frag, smem.Q[warpgroup], smem.K[stage]);
    barrier_wait(&smem.V_full[stage], block / STAGES % 2); // while S is under way
    wgmma_wait<0>(S_frag); // until here the registers of S belong to the tensor cores
    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    if (visible_keys(shape, first_query) < first_key + BLOCK_N) {
      for (int h = 0; h < 2; h++)
        mask_row(S_frag, h, visible_keys(shape, first_query + first_lane_row + 8 * h) - first_key);
    }
    float correction[2];
    for (int h = 0; h < 2; h++)
      correction[h] = softmax_row(S_frag, h, scale_log2, row_max[h], row_sum[h]);
    // exercise: round P; rescale O and add P V; refill the stage when all threads have read it
    unsigned P_frag[BLOCK_N / 4]; // the layout of S is the layout that the product wants P in
    round_probabilities<Element>(P_frag, S_frag);
    scale_output(O_frag, correction);
    accumulate_output<D>(O_frag, P_frag, smem.V[stage]);
    wgmma_wait<0>(O_frag);

    __syncthreads(); // both warp groups have read the stage, so the copy engine may overwrite it
    if (threadIdx.x == 0 && block + STAGES < blocks) load_block(block + STAGES);
    // end of exercise
  }

  store_output<Element, D>(O, lse, first_row, first_lane_row, rows, O_frag, row_max, row_sum,
                           scale_log2);
}

template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(divide_up(shape.seq_q, BLOCK_M), shape.heads, shape.batch);
  tensor_maps maps;
  cudaError_t error = describe_tensors(&maps, args, BLOCK_N);
  if (error == cudaSuccess)
    error = allow_shared_memory(attention_kernel<Element, D>, SHARED_BYTES<Element, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<Element, D><<<grid, THREADS, SHARED_BYTES<Element, D>, stream>>>(
      maps.Q, maps.K, maps.V, (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "11_tma_wgmma"; }

const char *attention_summary(void) { return "the copy engine, and products of four warps"; }

size_t attention_workspace_bytes(const attention_shape *) { return 0; }

const char *attention_unsupported(const attention_shape *shape) {
  if (shape->head_dim != 64 && shape->head_dim != 128)
    return "head_dim is 64 or 128 from step 07 on: step 06 takes any up to 128";
  if (!(shape->scale > 0.0f)) return "scale is above 0 from step 04 on: step 03 takes any";
  if (shape->heads > MAX_GRID_YZ || shape->batch > MAX_GRID_YZ)
    return "heads and batch are more than a grid has blocks in y and z, 65,535 on a GPU: step 07 "
           "takes more";
  return NULL;
}

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_64_OR_128(launch, args, stream);
}
