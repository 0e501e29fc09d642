// 17_lazy_max: most blocks need no row max, and a block of threads goes from tile to tile.
// Needs: sm_90a
//
// Softmax is exact for any number m in place of the row max, as long as exp(s - m) neither overflows nor
// vanishes. So after the first key block of a row the step keeps the old max: no new max, no shuffles, no
// factor for O. The sums that each lane needs anyway tell afterwards whether some score was too large. Then S
// is still in its registers, and the warp computes the block again with the ordinary softmax. How often that
// happens depends on the data.
//
// Blocks of threads are persistent: one for each multiprocessor takes tiles until none is left, and copies Q,
// K and V of the next tile during the last products of this one. Causal tiles differ in length, so they are
// dealt out by a counter, the longest first, within sections of heads whose K and V fit into the L2 cache.
// The turns of the consumers, in a configuration without OVERLAP:
//
//   consumer 1  | P V, Q K | exp   | P V, Q K | exp   | P V, Q K of the next tile | O, exp | ...
//   consumer 2      exp    | P V, Q K | exp   | P V, Q K | exp  ...
//   producer    | K V | K V |     as soon as a stage is empty, across tiles
//
// Cost for each head: the bytes of step 14. Cost for each score: one multiply-add, one exponential, one
// addition, half a rounding.
#include "hopper.cuh"
#include "kernel.cuh"
#include "softmax.cuh"
#include "tile_order.cuh"
#include <limits.h>
#include <type_traits>

template <int DIM, int C, int N, int S, bool OVER>
struct configuration {
  static constexpr int D = DIM;
  static constexpr int CONSUMERS = C; // warp groups
  static constexpr int BLOCK_N = N;   // keys of a block
  static constexpr int STAGES = S;    // key blocks in shared memory at once
  // Whether the softmax runs under products of its own warp group too, and not only under those of the
  // others.
  static constexpr bool OVERLAP = OVER;
  static constexpr int BLOCK_M = CONSUMERS * WARPGROUP_ROWS; // query rows of a tile
  // Whether a causal mask can hide whole key blocks from the first consumer, while the last consumer sees
  // them.
  static constexpr bool UNEQUAL = BLOCK_M - WARPGROUP_ROWS >= BLOCK_N;
  static constexpr int THREADS = 128 * (1 + CONSUMERS);
  // Registers of a thread; a multiprocessor has 65,536.
  static constexpr int PRODUCER_REGISTERS = CONSUMERS == 2 ? 40 : 32;
  static constexpr int CONSUMER_REGISTERS = CONSUMERS == 2 ? 232 : CONSUMERS == 3 ? 160 : 112;
  static_assert(128 * (PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS) <= 65536, "registers");
};

// The shared memory of a block. Tiles start at multiples of 1024 bytes.
template <typename tile, typename Element>
struct shared_tiles {
  // Q of this tile and of the next.
  Element Q[2][tile::CONSUMERS][tile::D / PANEL][WARPGROUP_ROWS][PANEL];
  Element K[tile::STAGES][tile::D / PANEL][tile::BLOCK_N][PANEL];
  Element V[tile::STAGES][tile::D / PANEL][tile::BLOCK_N][PANEL];
  // A phase of "full" is complete when the tile has arrived, one of "empty" when all warps have read it.
  barrier Q_full[2], K_full[tile::STAGES], V_full[tile::STAGES];
  barrier Q_empty[2], K_empty[tile::STAGES], V_empty[tile::STAGES];
  int tile_number[2]; // of the tile that each Q belongs to
};
template <typename tile, typename Element>
static constexpr size_t SHARED_BYTES = sizeof(shared_tiles<tile, Element>) + 1024; // to align it

// The number of key blocks that the rows of a tile before row `end` see, at least 1.
template <typename tile>
__device__ __forceinline__ int key_blocks(const attention_shape &shape, int end) {
  return divide_up(max(1, visible_keys(shape, end - 1)), tile::BLOCK_N);
}

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of one warp group; the caller
// waits for it. A step of 16 columns moves 32 bytes, which is 2 in the units of a descriptor.
template <typename tile, typename Element>
__device__ __forceinline__ void multiply_scores(float (&S_frag)[tile::BLOCK_N / 2],
                                                const Element (*Q_smem)[WARPGROUP_ROWS][PANEL],
                                                const Element (*K_smem)[tile::BLOCK_N][PANEL]) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::D; k += 16)
    wgmma<Element, tile::BLOCK_N>::shared(
        S_frag, matrix_descriptor(Q_smem[k / PANEL], 0) + k % PANEL / 8,
        matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8, k == 0);
  wgmma_commit();
}

// Queues O_frag [64, D] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D], the part of one warp group; the caller
// waits for it. If `first` is set, O_frag = P V. A step of 16 keys moves 16 rows of 128 bytes.
template <typename tile, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::D / 2], const unsigned (&P_frag)[tile::BLOCK_N / 4],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL], bool first) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16)
    wgmma<Element, tile::D>::registers(O_frag, &P_frag[k / 4],
                                       matrix_descriptor(V_smem[0][k], sizeof(V_smem[0])),
                                       k == 0 && first);
  wgmma_commit();
}

// The largest sum of a lane's exponentials up to which the old max may stay: each of them must fit into
// Element. fp16 ends at 65,504. bf16 has the exponents of float32, and sums in float32 must not overflow
// either.
template <typename Element>
static constexpr float LAZY_LIMIT = std::is_same<Element, half>::value ? 0x1p15f : 0x1p64f;

// The lazy softmax of the lane's two rows: computes P_frag from S_frag with the old row max. If that max is
// too small for a row of the warp, all lanes compute the ordinary softmax instead, and the function returns
// true: then the caller must rescale O by `correction`.
template <typename Element, int COUNT>
__device__ __forceinline__ bool lazy_softmax(unsigned (&P_frag)[COUNT / 2], float (&S_frag)[COUNT],
                                             float scale_log2, float (&row_max)[2],
                                             float (&row_sum)[2], float (&correction)[2]) {
  float sum[2][2] = {};
  const float subtracted[2] = {row_max[0] * scale_log2, row_max[1] * scale_log2};
#pragma unroll
  for (int i = 0; i < COUNT / 2; i++) { // a pair of the one row, a pair of the other, in turn
    // exercise: compute two probabilities with the old row max; add them to their sums; put them into P_frag
    const int h = i % 2;
    const float left = exp2_approximate(fmaf(S_frag[2 * i], scale_log2, -subtracted[h]));
    const float right = exp2_approximate(fmaf(S_frag[2 * i + 1], scale_log2, -subtracted[h]));
    sum[h][0] += left;
    sum[h][1] += right;
    P_frag[i] = pack_pair<Element>(left, right);
    // end of exercise
  }
  // exercise: if the old max fits all rows of the warp, add the sums and return; else the ordinary softmax
  const float sums[2] = {sum[0][0] + sum[0][1], sum[1][0] + sum[1][1]};
  const bool good = sums[0] <= LAZY_LIMIT<Element> && sums[1] <= LAZY_LIMIT<Element> &&
                    product_is_small(subtracted[0]) && product_is_small(subtracted[1]);
  if (__all_sync(0xffffffff, good)) {
    for (int h = 0; h < 2; h++) row_sum[h] += sums[h];
    return false;
  }
  for (int h = 0; h < 2; h++)
    correction[h] = softmax_row(S_frag, h, scale_log2, row_max[h], row_sum[h]);
  round_probabilities<Element>(P_frag, S_frag);
  // end of exercise
  return true;
}

// One thread takes tiles and copies their data as stages become empty: K of a block before V of the block
// before it, and Q and the first K of the next tile before the last V of this tile.
template <typename tile, typename Element>
__device__ __forceinline__ void produce(shared_tiles<tile, Element> &smem, const CUtensorMap *Q_map,
                                        const CUtensorMap *K_map, const CUtensorMap *V_map,
                                        const attention_shape &shape, const schedule &order,
                                        int *counter) {
  constexpr int PANELS = tile::D / PANEL;
  ring_place<2> Q_place;
  ring_place<tile::STAGES> K_place, V_place;

  // Hands over Q of a tile and the tile's number. After the last tile it hands over the number alone.
  const auto load_queries = [&](const tile_place &place, int number) {
    // exercise: wait for the empty stage; store the number; announce and copy Q, or arrive if no tile is left
    barrier_wait(&smem.Q_empty[Q_place.stage], Q_place.parity ^ 1); // passes at once in round 0
    smem.tile_number[Q_place.stage] = number;
    if (number >= order.tiles) return barrier_arrive(&smem.Q_full[Q_place.stage]);
    barrier_arrive_expecting(&smem.Q_full[Q_place.stage], sizeof(smem.Q[0]));
    for (int i = 0; i < tile::CONSUMERS; i++)
      load_tile<PANELS>(smem.Q[Q_place.stage][i], Q_map, &smem.Q_full[Q_place.stage],
                        place.first_query + i * WARPGROUP_ROWS, place.head, place.batch);
    Q_place.advance();
    // end of exercise
  };
  const auto load_keys = [&](const tile_place &place, int block) {
    barrier_wait(&smem.K_empty[K_place.stage], K_place.parity ^ 1);
    barrier_arrive_expecting(&smem.K_full[K_place.stage], sizeof(smem.K[0]));
    load_tile<PANELS>(smem.K[K_place.stage], K_map, &smem.K_full[K_place.stage],
                      block * tile::BLOCK_N, place.kv_head, place.batch);
    K_place.advance();
  };
  const auto load_values = [&](const tile_place &place, int block) {
    barrier_wait(&smem.V_empty[V_place.stage], V_place.parity ^ 1);
    barrier_arrive_expecting(&smem.V_full[V_place.stage], sizeof(smem.V[0]));
    load_tile<PANELS>(smem.V[V_place.stage], V_map, &smem.V_full[V_place.stage],
                      block * tile::BLOCK_N, place.kv_head, place.batch);
    V_place.advance();
  };

  int number = blockIdx.x;
  tile_place place = tile_in_order<tile::BLOCK_M>(shape, order, number);
  load_keys(place, 0);
  load_queries(place, number);
  while (number < order.tiles) {
    // Tiles of equal length are dealt out in turn. Of the others each block takes one as soon as it is free.
    number = counter ? (int)gridDim.x + atomicAdd(counter, 1) : number + (int)gridDim.x;
    const tile_place next = tile_in_order<tile::BLOCK_M>(shape, order, number);
    const int blocks = key_blocks<tile>(shape, place.first_query + place.rows);
#pragma unroll 1 // it shares schedulers with the consumers, and slows them down when it is unrolled
    for (int block = 0; block < blocks; block++) {
      if (block + 1 < blocks) {
        load_keys(place, block + 1);
      } else {
        if (number < order.tiles) load_keys(next, 0);
        load_queries(next, number);
      }
      load_values(place, block);
    }
    place = next;
  }
}

// One warp group computes its 64 rows of every tile.
template <typename tile, typename Element>
__device__ __forceinline__ void consume(shared_tiles<tile, Element> &smem, Element *O, float *lse,
                                        const attention_shape &shape, const schedule &order,
                                        int consumer) {
  // The lane has a part of rows first_lane_row and first_lane_row + 8 of the tile. Warps 0 to 3 are the
  // producer.
  const int first_lane_row = (threadIdx.x / 32 - 4) * 16 + threadIdx.x % 32 / 4;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)) saves a multiply
  float row_max[2];                              // before scaling, the same in all lanes of the row
  float row_sum[2];                              // over the lane's own keys
  float correction[2];
  float O_frag[tile::D / 2];
  float S_frag[tile::BLOCK_N / 2];
  unsigned P_frag[tile::BLOCK_N / 4], P_next[tile::BLOCK_N / 4];
  ring_place<2> Q_place;
  ring_place<tile::STAGES> K_place, V_place;

  // Each consumer has a named barrier for its turn: its 128 threads wait there until the 128 threads of the
  // consumer before it arrive.
  const auto wait_for_turn = [&]() { named_barrier_wait(1 + consumer, 256); };
  const auto pass_turn = [&]() { named_barrier_arrive(1 + (consumer + 1) % tile::CONSUMERS, 256); };
  const auto wait_for_keys = [&]() { barrier_wait(&smem.K_full[K_place.stage], K_place.parity); };
  const auto wait_for_values = [&]() { barrier_wait(&smem.V_full[V_place.stage], V_place.parity); };
  // Says that the warp will not read the stage any more, because its part of the product is complete.
  const auto release = [&](barrier *empty, auto &place) {
    if (threadIdx.x % 32 == 0) barrier_arrive(&empty[place.stage]);
    place.advance();
  };
  // Returns the number of the next tile. If there is such a tile, its Q and first K have arrived.
  const auto next_tile = [&]() {
    barrier_wait(&smem.Q_full[Q_place.stage], Q_place.parity);
    // The number is warp-uniform; only the shuffle tells the compiler so.
    const int number = __shfl_sync(0xffffffff, smem.tile_number[Q_place.stage], 0);
    if (number < order.tiles) wait_for_keys();
    return number;
  };
  const auto queue_scores = [&]() {
    multiply_scores<tile>(S_frag, smem.Q[Q_place.stage][consumer], smem.K[K_place.stage]);
  };
  const auto mask = [&](const tile_place &place, int block) {
    // The warp group's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const int first_query = place.first_query + consumer * WARPGROUP_ROWS;
    const int first_key = block * tile::BLOCK_N;
    if (visible_keys(shape, first_query) < first_key + tile::BLOCK_N) {
      for (int h = 0; h < 2; h++)
        mask_row(S_frag, h,
                 visible_keys(shape, place.first_query + first_lane_row + 8 * h) - first_key);
    }
  };

  if (consumer == tile::CONSUMERS - 1) pass_turn(); // so that the first one can begin
  int number = next_tile();
  tile_place place = tile_in_order<tile::BLOCK_M>(shape, order, number);
  wait_for_turn();
  queue_scores();
  pass_turn();
  wgmma_wait<0>(S_frag);

  while (number < order.tiles) {
    const int tile_blocks = key_blocks<tile>(shape, place.first_query + place.rows);
    // Under a causal mask the upper warp groups need fewer blocks than the lowest one.
    const int needed = min(place.rows, (consumer + 1) * WARPGROUP_ROWS);
    const int blocks =
        tile::UNEQUAL ? key_blocks<tile>(shape, place.first_query + needed) : tile_blocks;
    release(smem.K_empty, K_place);
    if (blocks == 1) release(smem.Q_empty, Q_place);
    mask(place, 0);
    for (int h = 0; h < 2; h++) {
      row_max[h] = -INFINITY;
      row_sum[h] = 0.0f;
      softmax_row(S_frag, h, scale_log2, row_max[h], row_sum[h]);
    }
    round_probabilities<Element>(P_frag, S_frag);

    // One round of the loop: O += P V of the block before, and S = Q K^T and P_new of this block.
    const auto step = [&](int block, unsigned(&P)[tile::BLOCK_N / 4],
                          unsigned(&P_new)[tile::BLOCK_N / 4]) {
      wait_for_keys();
      wait_for_turn();
      queue_scores();
      wait_for_values();
      accumulate_output<tile>(O_frag, P, smem.V[V_place.stage], block == 1);
      pass_turn();
      const auto wait_for_output = [&]() {
        wgmma_wait<0>(O_frag);
        release(smem.V_empty, V_place);
      };
      wgmma_wait<1>(S_frag);
      if (!tile::OVERLAP) wait_for_output();
      release(smem.K_empty, K_place);
      if (block == blocks - 1) release(smem.Q_empty, Q_place);
      mask(place, block);
      const bool grown =
          lazy_softmax<Element>(P_new, S_frag, scale_log2, row_max, row_sum, correction);
      if (tile::OVERLAP) wait_for_output(); // the product for O went on during the softmax
      if (grown) scale_output(O_frag, correction);
    };
    const auto store = [&]() {
      store_output<Element, tile::D>(O, lse, place.first_row, first_lane_row, place.rows, O_frag,
                                     row_max, row_sum, scale_log2);
    };
    // The epilogue of a tile, under the prologue of the next one: queues the last O += P V and the first
    // scores of the next tile, and stores O while these scores are under way.
    const auto finish = [&](const unsigned(&P)[tile::BLOCK_N / 4]) {
      wait_for_values();
      if (blocks < tile_blocks) {
        accumulate_output<tile>(O_frag, P, smem.V[V_place.stage], blocks == 1);
        wgmma_wait<0>(O_frag);
        release(smem.V_empty, V_place);
        store();
        // Only the warp groups below need the other blocks: this one gives back their stages and its turns.
        for (int block = blocks; block < tile_blocks; block++) {
          wait_for_turn();
          pass_turn();
          wait_for_keys();
          release(smem.K_empty, K_place);
          wait_for_values();
          release(smem.V_empty, V_place);
        }
        number = next_tile();
        wait_for_turn();
        queue_scores(); // after the last tile this multiplies stale data; the result is discarded
        pass_turn();
      } else {
        wait_for_turn();
        accumulate_output<tile>(O_frag, P, smem.V[V_place.stage], blocks == 1);
        number = next_tile();
        queue_scores();
        pass_turn();
        wgmma_wait<1>(O_frag);
        release(smem.V_empty, V_place);
        store();
      }
      place = tile_in_order<tile::BLOCK_M>(shape, order, number); // while S is under way
      wgmma_wait<0>(S_frag);
    };
    if constexpr (tile::OVERLAP) {
      // While the products read one P, the softmax makes the next one: two sets of registers take turns.
      for (int block = 1;;) {
        if (block == blocks) {
          finish(P_frag);
          break;
        }
        step(block++, P_frag, P_next);
        if (block == blocks) {
          finish(P_next);
          break;
        }
        step(block++, P_next, P_frag);
      }
    } else {
      for (int block = 1; block < blocks; block++) step(block, P_frag, P_frag);
      finish(P_frag);
    }
  }
}

// Computes O [batch, heads, seq_q, D] and lse [batch, heads, seq_q] by as many blocks as there are
// multiprocessors.
template <typename tile, typename Element>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ CUtensorMap Q_map,
                          const __grid_constant__ CUtensorMap K_map,
                          const __grid_constant__ CUtensorMap V_map, Element *O, float *lse,
                          attention_shape shape, schedule order, int *counter) {
  extern __shared__ unsigned char shared_memory[];
  auto &smem =
      *(shared_tiles<tile, Element> *)(shared_memory + (-shared_address(shared_memory) & 1023));
  if (threadIdx.x == 0) {
    barrier_create_all(smem.Q_full, 1);
    barrier_create_all(smem.K_full, 1);
    barrier_create_all(smem.V_full, 1);
    barrier_create_all(smem.Q_empty, 4 * tile::CONSUMERS);
    barrier_create_all(smem.K_empty, 4 * tile::CONSUMERS);
    barrier_create_all(smem.V_empty, 4 * tile::CONSUMERS);
    barriers_created();
  }
  __syncthreads(); // from here on all threads may use the barriers

  // The number of the warp group is warp-uniform; only the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    give_registers<tile::PRODUCER_REGISTERS>();
    if (threadIdx.x < 32 && elect_lane())
      produce(smem, &Q_map, &K_map, &V_map, shape, order, counter);
  } else {
    take_registers<tile::CONSUMER_REGISTERS>();
    consume(smem, O, lse, shape, order, warpgroup - 1);
  }
}

template <typename tile, typename Element>
static cudaError_t launch_tile(const attention_args *args, int multiprocessors,
                               cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const schedule order = make_schedule(shape, tile::BLOCK_M, multiprocessors);
  const bool counted = shape.causal && order.tiles > multiprocessors;
  tensor_maps maps;
  cudaError_t error = describe_tensors(&maps, args, tile::BLOCK_N);
  if (error == cudaSuccess)
    error = allow_shared_memory(attention_kernel<tile, Element>, SHARED_BYTES<tile, Element>);
  if (error == cudaSuccess && counted)
    error = cudaMemsetAsync(args->workspace, 0, sizeof(int), stream);
  if (error != cudaSuccess) return error;
  const int blocks = min(multiprocessors, order.tiles);
  attention_kernel<tile, Element><<<blocks, tile::THREADS, SHARED_BYTES<tile, Element>, stream>>>(
      maps.Q, maps.K, maps.V, (Element *)args->o, args->lse, shape, order,
      counted ? (int *)args->workspace : NULL);
  return cudaGetLastError();
}

// Chooses the configuration that was the fastest for the shape on an H200.
template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape &shape = args->shape;
  int device = 0;
  int multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const auto launch_as = [&](auto tile) {
    return launch_tile<decltype(tile), Element>(args, multiprocessors, stream);
  };
  if constexpr (D == 64) {
    const long long tiles = (long long)shape.batch * shape.heads * divide_up(shape.seq_q, 256);
    if (shape.seq_q <= 128 || tiles < multiprocessors) // small tiles keep more blocks busy
      return launch_as(configuration<64, 2, 128, 4, false>());
    if (shape.seq_q <= 4096) return launch_as(configuration<64, 4, 64, 4, false>());
    return launch_as(configuration<64, 3, 128, 4, false>());
  } else {
    if (shape.seq_q <= (shape.causal ? 512 : 256))
      return launch_as(configuration<128, 2, 128, 2, false>());
    return launch_as(configuration<128, 2, 128, 2, true>());
  }
}

const char *attention_name(void) { return "17_lazy_max"; }

const char *attention_summary(void) { return "most key blocks need no row max"; }

// The workspace holds the counter that deals out the tiles.
size_t attention_workspace_bytes(const attention_shape *) { return sizeof(int); }

const char *attention_unsupported(const attention_shape *shape) {
  if (shape->head_dim != 64 && shape->head_dim != 128)
    return "head_dim is 64 or 128 from step 07 on: step 06 takes any up to 128";
  if (!(shape->scale > 0.0f)) return "scale is above 0 from step 04 on: step 03 takes any";
  if ((long long)shape->batch * shape->heads * divide_up(shape->seq_q, WARPGROUP_ROWS) > INT_MAX)
    return "the tiles of all heads are at most 2^31 - 1 in this step: step 07 takes more";
  return NULL;
}

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_64_OR_128(launch, args, stream);
}
