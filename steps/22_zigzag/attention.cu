// 22_zigzag: each rank has a piece near the beginning of the sequence and one near its end, so causal work is equal.
// Needs: sm_90a
// GPUs: several
// After: 21_gather
//
// With a causal mask, row i sees i + 1 keys. So in step 21 the last of P ranks has 2 P - 1 times the work of the first,
// and all wait for it. Here the sequence is cut into 2 P pieces, and rank r has the pieces r and 2 P - 1 - r. The
// second has more work than the average, by as much as the first has less. So all ranks have the same work, for any P.
// (Brandon et al., "Striped Attention", 2023, name the problem; the zigzag comes from the ring-flash-attention and
// Megatron projects.)
//
//   piece           0   1   2   3   4   5   6   7      P = 4, 2 P = 8 pieces
//   rank            0   1   2   3   3   2   1   0
//   work            1   3   5   7   9  11  13  15      rank 0: 1 + 15, rank 1: 3 + 13, rank 2: 5 + 11, rank 3: 7 + 9
//
// Cost for each rank: as in step 21, but with a causal mask the average work. Look next at 23_hidden_copies.
#include "group.cuh"
#include "kernel.cuh"
#include "lazy_max.cuh"

// A rank's part of the problem: `seq_q` is the number of its own rows, and `seq_kv` that of all keys.
struct part : attention_shape {
  attention_shape whole;
  int rank, ranks;
  int query_piece, key_piece; // rows of each of the 2 * ranks pieces of Q, and of K and V
};

// Rank r has the pieces r and 2 ranks - 1 - r.
void attention_group_rows(int seq, int rank, int ranks, attention_rows rows[2]) {
  // exercise: store the rank's rows in rows[0] and rows[1]
  rows[0] = rows_of_piece(seq, rank, piece_rows(seq, 2 * ranks));
  rows[1] = rows_of_piece(seq, 2 * ranks - 1 - rank, piece_rows(seq, 2 * ranks));
  // end of exercise
}

static part part_of(const attention_shape &whole, const attention_group *group) {
  attention_rows rows[2];
  attention_group_rows(whole.seq_q, group->rank, group->ranks, rows);
  part shape = {whole,
                whole,
                group->rank,
                group->ranks,
                piece_rows(whole.seq_q, 2 * group->ranks),
                piece_rows(whole.seq_kv, 2 * group->ranks)};
  shape.seq_q = rows[0].count + rows[1].count;
  return shape;
}

// Returns the rows of a rank's share of K and V, including those that are missing in the last pieces.
static int share_rows(const part &shape) { return 2 * shape.key_piece; }

// Returns the bytes of a rank's share of K, and of V.
static size_t share_bytes(const part &shape) {
  return sizeof(half) * shape.batch * shape.kv_heads * share_rows(shape) * shape.head_dim;
}

// Returns which row of the whole problem the rank's row `row` is.
__device__ __forceinline__ int row_of_problem(const part &shape, int row) {
  // exercise: return which row of the problem row `row` of the rank is, in its first piece or in its second one
  // until then: return row;
  const int first = shape.rank * shape.query_piece;
  const int second = (2 * shape.ranks - 1 - shape.rank) * shape.query_piece;
  return row < shape.query_piece ? first + row : second + row - shape.query_piece;
  // end of exercise
}

// Returns how many keys the rank's row `row` sees. The mask and key_blocks call it, with rows of the rank.
__device__ __forceinline__ int visible_keys(const part &shape, int row) {
  return visible_keys(shape.whole, row_of_problem(shape, row));
}

// Returns where a key block, which is of one piece, lies in the gathered [ranks, batch * kv_heads, share, head_dim].
__device__ __forceinline__ block_place place_of_block(const part &shape, const tensor_maps &maps,
                                                      const tile_place &place, int first_key) {
  const int head = place.batch * shape.kv_heads + place.kv_head;
  // exercise: return the row and the rank of the block, whose head is above
  // until then: return {&maps.K, &maps.V, first_key, head, 0};
  const int piece = first_key / shape.key_piece;
  const bool second = piece >= shape.ranks;
  const int rank = second ? 2 * shape.ranks - 1 - piece : piece;
  const int row = first_key % shape.key_piece + (second ? shape.key_piece : 0);
  return {&maps.K, &maps.V, row, head, rank};
  // end of exercise
}

template <typename tile, typename Element, int D, bool LSE>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          part shape, schedule order) {
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

// The kernel's arguments: the rank's rows of Q, O and lse, and the gathered K and V.
struct part_args {
  part shape;
  const void *q, *k, *v;
  void *o;
  float *lse;
  void *workspace; // of the kernel: the counter of tiles
};

template <typename tile, typename Element, int D>
static cudaError_t launch(const part_args *args, cudaStream_t stream) {
  const part &shape = args->shape;
  schedule order;
  const auto kernel = args->lse ? attention_kernel<tile, Element, D, true>
                                : attention_kernel<tile, Element, D, false>;
  cudaError_t error = allow_shared_memory(kernel, SHARED_BYTES<tile, D>);
  tensor_maps maps;
  if (error == cudaSuccess)
    error = describe_tensor(&maps.Q, shape.dtype, args->q, shape.batch, shape.heads, shape.seq_q,
                            shape.head_dim, tile::BLOCK_M);
  const auto describe = [&](CUtensorMap *map, const void *tensor, int batch, int rows) {
    return describe_tensor(map, shape.dtype, tensor, batch, shape.batch * shape.kv_heads, rows,
                           shape.head_dim, tile::BLOCK_N);
  };
  if (error == cudaSuccess) error = describe(&maps.K, args->k, shape.ranks, share_rows(shape));
  if (error == cudaSuccess) error = describe(&maps.V, args->v, shape.ranks, share_rows(shape));
  if (error == cudaSuccess) error = make_schedule<tile>(&order, args, stream);
  if (error != cudaSuccess) return error;
  kernel<<<order.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(maps, (Element *)args->o,
                                                                         args->lse, shape, order);
  return cudaGetLastError();
}

const char *attention_name(void) { return "22_zigzag"; }

const char *attention_summary(void) {
  return "two pieces for each GPU, so that causal work is equal";
}

// launch_part and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"

static constexpr size_t COUNTER_BYTES =
    256; // a counter, and a pad that keeps the tensors behind it aligned

size_t attention_group_workspace_bytes(const attention_shape *shape, int ranks) {
  const attention_group group = {NULL, 0, ranks, NULL, NULL, NULL};
  return COUNTER_BYTES + 2 * ranks * share_bytes(part_of(*shape, &group));
}

// Enqueues the all-gather of the rank's rows of K, or of V.
static cudaError_t gather(void *all, const void *own, const part &shape,
                          const attention_group *group, cudaStream_t stream) {
  const size_t bytes = share_bytes(shape);
  attention_rows rows[2];
  attention_group_rows(shape.whole.seq_kv, shape.rank, shape.ranks, rows);
  const int own_rows = rows[0].count + rows[1].count;
  cudaError_t error = cudaSuccess;
  if (own_rows < share_rows(shape)) {
    void *place = (char *)all + shape.rank * bytes;
    error = copy_share(place, own, shape.batch * shape.kv_heads, own_rows, share_rows(shape),
                       shape.head_dim, stream);
    own = place;
  }
  if (error != cudaSuccess) return error;
  return of_nccl(ncclAllGather(own, all, bytes, ncclInt8, group->comm, stream));
}

cudaError_t attention_forward_group(const attention_args *args, const attention_group *group,
                                    cudaStream_t stream) {
  const part shape = part_of(args->shape, group);
  char *K_all = (char *)args->workspace + COUNTER_BYTES;
  char *V_all = K_all + shape.ranks * share_bytes(shape);
  cudaError_t error = gather(K_all, args->k, shape, group, stream);
  if (error == cudaSuccess) error = gather(V_all, args->v, shape, group, stream);
  // The kernel is behind both exchanges on `stream`, so it begins when K and V of all ranks are there. A rank without
  // queries takes part in the exchanges, which wait for it, but has nothing to launch.
  if (error != cudaSuccess || shape.seq_q == 0) return error;
  const part_args part = {shape, args->q, K_all, V_all, args->o, args->lse, args->workspace};
  return launch_part(&part, stream);
}
