// 14_warp_specialized: one warp group copies, the others compute, and the softmax of one runs under the products
// of another.
// Needs: sm_90a
//
// In step 11 all warps wait together: for tiles, for products, for the softmax. Here the first warp group is
// the producer. It gives its registers away, and one of its threads keeps the ring of tiles full. A stage has
// a barrier for "full" and one for "empty", and K and V have stages of their own. The other warp groups are
// consumers. Each of them queues S = Q K^T of a key block and, behind it, O += P V of the block before; its
// softmax runs while the second product is under way. The consumers take turns to queue (ping-pong), so that
// one multiplies while another computes its softmax. So the tensor cores and the exponential units are busy
// together.
//
//   consumer 1  | products | softmax  | products | softmax  |
//   consumer 2             | products | softmax  | products | softmax  |
//   producer    | K V | K V |     as soon as a stage is empty
//
// Cost for each head: as in step 11, with taller tiles where the registers allow them (192 rows for head_dim
// 64). Two costs remain: the start and the end of each tile, which overlap with nothing, and the chain of max,
// exponential and sum in each row.
// Look next at 17_lazy_max, which overlaps the tiles and leaves the max out of most blocks.
#include "hopper.cuh"
#include "kernel.cuh"
#include "softmax.cuh"

static constexpr int BLOCK_N = 128; // keys of a block
static constexpr int STAGES = 2;    // key blocks in shared memory at once

// The sizes for a head_dim. There are as many consumers as fit into the registers with their O, S and P.
template <int D>
struct sizes {
  static constexpr int CONSUMERS = D == 64 ? 3 : 2;          // warp groups
  static constexpr int BLOCK_M = CONSUMERS * WARPGROUP_ROWS; // query rows of a tile
  static constexpr int THREADS = 128 * (1 + CONSUMERS);
  // Registers of a thread; a multiprocessor has 65,536.
  static constexpr int PRODUCER_REGISTERS = D == 64 ? 32 : 40;
  static constexpr int CONSUMER_REGISTERS = D == 64 ? 160 : 232;
  static_assert(128 * (PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS) <= 65536, "registers");
};

// The shared memory of a block. Tiles start at multiples of 1024 bytes.
template <typename Element, int D>
struct shared_tiles {
  Element Q[sizes<D>::CONSUMERS][D / PANEL][WARPGROUP_ROWS][PANEL];
  Element K[STAGES][D / PANEL][BLOCK_N][PANEL];
  Element V[STAGES][D / PANEL][BLOCK_N][PANEL];
  barrier Q_full;
  barrier K_full[STAGES], V_full[STAGES];   // complete when the tile has arrived
  barrier K_empty[STAGES], V_empty[STAGES]; // complete when all consumers have read it
};
template <typename Element, int D>
static constexpr size_t SHARED_BYTES = sizeof(shared_tiles<Element, D>) + 1024; // to align it

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of one warp group; the caller
// waits for it. A step of 16 columns moves 32 bytes, which is 2 in the units of a descriptor.
template <int D, typename Element>
__device__ __forceinline__ void multiply_scores(float (&S_frag)[BLOCK_N / 2],
                                                const Element (*Q_smem)[WARPGROUP_ROWS][PANEL],
                                                const Element (*K_smem)[BLOCK_N][PANEL]) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < D; k += 16)
    wgmma<Element, BLOCK_N>::shared(S_frag, matrix_descriptor(Q_smem[k / PANEL], 0) + k % PANEL / 8,
                                    matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8,
                                    k == 0);
  wgmma_commit();
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

// The rows and keys that a block works on. Producer and consumers use the same values.
template <int D>
struct tile_place {
  int batch, head, kv_head;
  int first_query;
  int rows;         // of the tile that exist
  int blocks;       // of keys that its last row sees, at least 1
  size_t first_row; // of all rows of O

  __device__ __forceinline__ tile_place(const attention_shape &shape) {
    const int query_tile = shape.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x; // longest first
    head = blockIdx.y;
    batch = blockIdx.z;
    kv_head = head / (shape.heads / shape.kv_heads);
    first_query = query_tile * sizes<D>::BLOCK_M;
    rows = min(sizes<D>::BLOCK_M, shape.seq_q - first_query);
    blocks = divide_up(max(1, visible_keys(shape, first_query + rows - 1)), BLOCK_N);
    first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  }
};

// One thread copies Q, and then the key blocks as stages become empty. A stage is filled once and emptied
// once in each round of the ring, so both of its barriers have the parity of the round.
template <int D, typename Element>
__device__ __forceinline__ void produce(shared_tiles<Element, D> &smem, const CUtensorMap *Q_map,
                                        const CUtensorMap *K_map, const CUtensorMap *V_map,
                                        const tile_place<D> &place) {
  barrier_arrive_expecting(&smem.Q_full, sizeof(smem.Q));
  for (int i = 0; i < sizes<D>::CONSUMERS; i++)
    load_tile<D / PANEL>(smem.Q[i], Q_map, &smem.Q_full, place.first_query + i * WARPGROUP_ROWS,
                         place.head, place.batch);
  for (int block = 0; block < place.blocks; block++) {
    // exercise: copy K and V of the block into their stages, each as soon as the stage is empty
    const int stage = block % STAGES;
    const unsigned parity = block / STAGES % 2;
    barrier_wait(&smem.K_empty[stage], parity ^ 1); // passes at once in the first round
    barrier_arrive_expecting(&smem.K_full[stage], sizeof(smem.K[stage]));
    load_tile<D / PANEL>(smem.K[stage], K_map, &smem.K_full[stage], block * BLOCK_N, place.kv_head,
                         place.batch);
    barrier_wait(&smem.V_empty[stage], parity ^ 1);
    barrier_arrive_expecting(&smem.V_full[stage], sizeof(smem.V[stage]));
    load_tile<D / PANEL>(smem.V[stage], V_map, &smem.V_full[stage], block * BLOCK_N, place.kv_head,
                         place.batch);
    // end of exercise
  }
}

// One warp group computes its 64 rows of the tile.
template <int D, typename Element>
__device__ __forceinline__ void consume(shared_tiles<Element, D> &smem, Element *O, float *lse,
                                        const attention_shape &shape, const tile_place<D> &place,
                                        int consumer) {
  constexpr int CONSUMERS = sizes<D>::CONSUMERS;
  // The lane has a part of rows first_lane_row and first_lane_row + 8 of the tile. Warps 0 to 3 are the
  // producer.
  const int first_lane_row = (threadIdx.x / 32 - 4) * 16 + threadIdx.x % 32 / 4;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)) saves a multiply
  float row_max[2] = {-INFINITY, -INFINITY};     // before scaling, the same in all lanes of the row
  float row_sum[2] = {0.0f, 0.0f};               // over the lane's own keys
  float correction[2];
  float O_frag[D / 2] = {};
  float S_frag[BLOCK_N / 2];
  unsigned P_frag[BLOCK_N / 4]; // the layout of S is the layout that the product wants P in

  // Each consumer has a named barrier for its turn: its 128 threads wait there until the 128 threads of the
  // consumer before it arrive.
  const auto wait_for_turn = [&]() { named_barrier_wait(1 + consumer, 256); };
  const auto pass_turn = [&]() { named_barrier_arrive(1 + (consumer + 1) % CONSUMERS, 256); };
  const auto release = [&](barrier *empty) {
    if (threadIdx.x % 128 == 0) barrier_arrive(empty);
  };
  const auto softmax = [&](int block) {
    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const int first_key = block * BLOCK_N;
    if (visible_keys(shape, place.first_query) < first_key + BLOCK_N) {
      for (int h = 0; h < 2; h++)
        mask_row(S_frag, h,
                 visible_keys(shape, place.first_query + first_lane_row + 8 * h) - first_key);
    }
    for (int h = 0; h < 2; h++)
      correction[h] = softmax_row(S_frag, h, scale_log2, row_max[h], row_sum[h]);
  };

  if (consumer == CONSUMERS - 1) pass_turn(); // so that the first one can begin
  barrier_wait(&smem.Q_full, 0);
  barrier_wait(&smem.K_full[0], 0);
  wait_for_turn();
  multiply_scores<D>(S_frag, smem.Q[consumer], smem.K[0]);
  pass_turn();
  wgmma_wait<0>(S_frag);
  release(&smem.K_empty[0]);
  softmax(0);
  round_probabilities<Element>(P_frag, S_frag);

  for (int block = 1; block < place.blocks; block++) {
    const int K_stage = block % STAGES;
    const int V_stage = (block - 1) % STAGES;
    // exercise: in the consumer's turn, queue S of this block and, behind it, O += P V of the block before
    barrier_wait(&smem.K_full[K_stage], block / STAGES % 2);
    wait_for_turn();
    multiply_scores<D>(S_frag, smem.Q[consumer], smem.K[K_stage]);
    barrier_wait(&smem.V_full[V_stage], (block - 1) / STAGES % 2);
    accumulate_output<D>(O_frag, P_frag, smem.V[V_stage]);
    pass_turn();
    // end of exercise
    // exercise: compute the softmax while O is under way; then P and O; release each stage once it is read
    wgmma_wait<1>(S_frag); // S is complete, O may still be under way
    release(&smem.K_empty[K_stage]);
    softmax(block); // while the tensor cores add to O
    wgmma_wait<0>(O_frag);
    release(&smem.V_empty[V_stage]);
    round_probabilities<Element>(P_frag, S_frag);
    scale_output(O_frag, correction); // to the new row max, which P of this block has already
    // end of exercise
  }
  const int last = place.blocks - 1;
  barrier_wait(&smem.V_full[last % STAGES], last / STAGES % 2);
  accumulate_output<D>(O_frag, P_frag, smem.V[last % STAGES]);
  wgmma_wait<0>(O_frag);

  store_output<Element, D>(O, lse, place.first_row, first_lane_row, place.rows, O_frag, row_max,
                           row_sum, scale_log2);
}

// Each block computes O [query tile, D] and lse [query tile] for one (query tile, head, batch).
template <typename Element, int D>
__launch_bounds__(sizes<D>::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ CUtensorMap Q_map,
                          const __grid_constant__ CUtensorMap K_map,
                          const __grid_constant__ CUtensorMap V_map, Element *O, float *lse,
                          attention_shape shape) {
  extern __shared__ unsigned char shared_memory[];
  auto &smem =
      *(shared_tiles<Element, D> *)(shared_memory + (-shared_address(shared_memory) & 1023));
  if (threadIdx.x == 0) {
    barrier_create(&smem.Q_full, 1);
    barrier_create_all(smem.K_full, 1);
    barrier_create_all(smem.V_full, 1);
    barrier_create_all(smem.K_empty, sizes<D>::CONSUMERS);
    barrier_create_all(smem.V_empty, sizes<D>::CONSUMERS);
    barriers_created();
  }
  __syncthreads(); // from here on all threads may use the barriers

  const tile_place<D> place(shape);
  // The number of the warp group is warp-uniform; only the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    give_registers<sizes<D>::PRODUCER_REGISTERS>();
    if (threadIdx.x == 0) produce(smem, &Q_map, &K_map, &V_map, place);
  } else {
    take_registers<sizes<D>::CONSUMER_REGISTERS>();
    consume(smem, O, lse, shape, place, warpgroup - 1);
  }
}

template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(divide_up(shape.seq_q, sizes<D>::BLOCK_M), shape.heads, shape.batch);
  tensor_maps maps;
  cudaError_t error = describe_tensors(&maps, args, BLOCK_N);
  if (error == cudaSuccess)
    error = allow_shared_memory(attention_kernel<Element, D>, SHARED_BYTES<Element, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<Element, D><<<grid, sizes<D>::THREADS, SHARED_BYTES<Element, D>, stream>>>(
      maps.Q, maps.K, maps.V, (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "14_warp_specialized"; }

const char *attention_summary(void) { return "producer and consumers, softmax under products"; }

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
