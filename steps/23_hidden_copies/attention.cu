// 23_hidden_copies: K and V travel in slices of heads, while the heads that are there are multiplied.
// Needs: sm_90a
// GPUs: several
// After: 22_zigzag
//
// In step 22 the tensor cores wait until all K and V have come, and then the links between the GPUs have nothing to do.
// But a head needs only its own K and V. So the heads are divided into slices. There is one stream for each other rank,
// which copies K and V of that rank, one slice after the other. Events say that a slice has arrived, and the kernel of
// the slice waits for them. Nothing hides the copies of the first slice, so it should be small. Its products are then
// few and must hide the copies of the second slice, so that one should be small, too. Two streams take the kernels in
// turn, so that the blocks of the next one begin where those of the one before end.
//
//   copies     01223344                            a digit is a slice, and the time in which two heads are copied
//   stream      0000    22222222        44444444   the kernels of slices 0, 2 and 4
//   products        1111        33333333           the kernels of slices 1 and 3
//
// NCCL's kernels would find no room on the multiprocessors, because those of the step hold all of them. So the step
// copies by itself where it reaches the memory of the other ranks: the GPU's copy engines need no multiprocessor. The
// rank's own rows are read from where they are.
//
// Cost for each rank: as in step 22. Of the time of the copies only that of the first slice remains, if there is
// enough to multiply.
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
  rows[0] = rows_of_piece(seq, rank, piece_rows(seq, 2 * ranks));
  rows[1] = rows_of_piece(seq, 2 * ranks - 1 - rank, piece_rows(seq, 2 * ranks));
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
  const int first = shape.rank * shape.query_piece;
  const int second = (2 * shape.ranks - 1 - shape.rank) * shape.query_piece;
  return row < shape.query_piece ? first + row : second + row - shape.query_piece;
}

// Returns how many keys the rank's row `row` sees. The mask and key_blocks call it, with rows of the rank.
__device__ __forceinline__ int visible_keys(const part &shape, int row) {
  return visible_keys(shape.whole, row_of_problem(shape, row));
}

// The rank's own K and V, and the gathered ones.
struct part_maps : tensor_maps {
  CUtensorMap own_K, own_V;
};

// Returns where a key block, which is of one piece, lies: in the gathered tensors [ranks, kv_heads, share, head_dim],
// or in the rank's own [kv_heads, rows, head_dim].
__device__ __forceinline__ block_place place_of_block(const part &shape, const part_maps &maps,
                                                      const tile_place &place, int first_key) {
  const int head = place.batch * shape.kv_heads + place.kv_head;
  const int piece = first_key / shape.key_piece;
  const bool second = piece >= shape.ranks;
  const int rank = second ? 2 * shape.ranks - 1 - piece : piece;
  const int row = first_key % shape.key_piece + (second ? shape.key_piece : 0);
  if (rank == shape.rank) return {&maps.own_K, &maps.own_V, row, head, 0};
  return {&maps.K, &maps.V, row, head, rank};
}

template <typename tile, typename Element, int D, bool LSE>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ part_maps maps, Element *O, float *lse,
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

// The kernel's arguments: the rank's rows of all tensors, and the gathered K and V.
struct part_args {
  part shape;
  const void *q, *own_k, *own_v, *k, *v;
  void *o;
  float *lse;
  void *workspace; // of the kernel: the counter of tiles
};

// Returns the rows of K and V that a rank has.
static int own_keys(const part &shape, int rank) {
  attention_rows rows[2];
  attention_group_rows(shape.whole.seq_kv, rank, shape.ranks, rows);
  return rows[0].count + rows[1].count;
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const part_args *args, cudaStream_t stream) {
  const part &shape = args->shape;
  schedule order;
  const auto kernel = args->lse ? attention_kernel<tile, Element, D, true>
                                : attention_kernel<tile, Element, D, false>;
  cudaError_t error = allow_shared_memory(kernel, SHARED_BYTES<tile, D>);
  part_maps maps;
  if (error == cudaSuccess)
    error = describe_tensor(&maps.Q, shape.dtype, args->q, shape.batch, shape.heads, shape.seq_q,
                            shape.head_dim, tile::BLOCK_M);
  const auto describe = [&](CUtensorMap *map, const void *tensor, int batch, int rows) {
    if (rows == 0) return cudaSuccess; // no block of it will be asked for
    return describe_tensor(map, shape.dtype, tensor, batch, shape.batch * shape.kv_heads, rows,
                           shape.head_dim, tile::BLOCK_N);
  };
  const int own = own_keys(shape, shape.rank);
  if (error == cudaSuccess) error = describe(&maps.own_K, args->own_k, 1, own);
  if (error == cudaSuccess) error = describe(&maps.own_V, args->own_v, 1, own);
  if (error == cudaSuccess) error = describe(&maps.K, args->k, shape.ranks, share_rows(shape));
  if (error == cudaSuccess) error = describe(&maps.V, args->v, shape.ranks, share_rows(shape));
  if (error == cudaSuccess) error = make_schedule<tile>(&order, args, stream);
  if (error != cudaSuccess) return error;
  kernel<<<order.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(maps, (Element *)args->o,
                                                                         args->lse, shape, order);
  return cudaGetLastError();
}

const char *attention_name(void) { return "23_hidden_copies"; }

const char *attention_summary(void) { return "K and V travel in slices, under the products"; }

// launch_part and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"

// Bytes of a counter for each slice, of a number for the ranks to meet at, and of a pad that aligns the tensors behind.
static constexpr size_t COUNTER_BYTES = 256;
static constexpr size_t MEETING_POINT = 128;

size_t attention_group_workspace_bytes(const attention_shape *shape, int ranks) {
  const attention_group group = {NULL, 0, ranks, NULL, NULL, NULL};
  return COUNTER_BYTES + 2 * ranks * share_bytes(part_of(*shape, &group));
}

// Lets a stream of each rank wait until those of all ranks have come here, by a sum that is not read.
static cudaError_t meet(const attention_args *args, const attention_group *group,
                        cudaStream_t stream) {
  void *number = (char *)args->workspace + MEETING_POINT;
  return of_nccl(ncclAllReduce(number, number, 1, ncclInt32, ncclSum, group->comm, stream));
}

// Enqueues copies of a slice of K, or of V, from all other ranks. `first` is the slice's first head. There is a stream
// for the copies from each rank, so that the fixed times of copies from several ranks pass at the same time. Where the
// others are out of reach, NCCL gathers.
static cudaError_t gather(void *all, const part &slice, int first, const attention_args *args,
                          const void *attention_peer::*tensor, const attention_group *group) {
  const size_t bytes = share_bytes(slice);
  const attention_peer own = {args->k, args->v};
  const auto copy = [&](int rank, const attention_peer &peer) {
    const int rows = own_keys(slice, rank);
    const char *from = (const char *)(peer.*tensor) + sizeof(half) * first * rows * slice.head_dim;
    return copy_share((char *)all + rank * bytes, from, slice.kv_heads, rows, share_rows(slice),
                      slice.head_dim, group->copies[rank]);
  };
  cudaError_t error = cudaSuccess;
  if (!group->peers) {
    error = copy(slice.rank, own);
    if (error != cudaSuccess) return error;
    const char *place = (char *)all + slice.rank * bytes;
    const cudaStream_t stream = group->copies[slice.rank];
    return of_nccl(ncclAllGather(place, all, bytes, ncclInt8, group->comm, stream));
  }
  for (int i = 1; i < slice.ranks && error == cudaSuccess; i++) {
    const int rank = (slice.rank + i) % slice.ranks;
    error = copy(rank, group->peers[rank]);
  }
  return error;
}

// Lets a stream wait for all copies that have been enqueued.
static cudaError_t wait_for_copies(cudaStream_t stream, const attention_group *group) {
  cudaError_t error = cudaSuccess;
  for (int rank = 0; rank < group->ranks && error == cudaSuccess; rank++)
    error = wait_for(stream, group->copies[rank]);
  return error;
}

// Returns the part of the problem that has `count` heads of K and V, counted over all batch entries, and the query
// heads that read them.
static part slice_of(part shape, int count) {
  shape.heads = shape.heads / shape.kv_heads * count;
  shape.kv_heads = count;
  shape.batch = 1;
  return shape;
}

// Enqueues the copies and the kernel of one slice.
static cudaError_t forward_slice(const part &slice, int first, int number,
                                 const attention_args *args, const attention_group *group,
                                 cudaStream_t stream) {
  const size_t head_bytes = sizeof(half) * slice.head_dim;        // of a row of one head
  const int first_query = first * (slice.heads / slice.kv_heads); // the first query head
  char *K_slice = (char *)args->workspace + COUNTER_BYTES +
                  2 * slice.ranks * first * (share_bytes(slice) / slice.kv_heads);
  char *V_slice = K_slice + slice.ranks * share_bytes(slice);
  cudaError_t error = cudaSuccess;
  // exercise: gather K and V, and let `stream` wait for them
  error = gather(K_slice, slice, first, args, &attention_peer::k, group);
  if (error == cudaSuccess) error = gather(V_slice, slice, first, args, &attention_peer::v, group);
  if (error == cudaSuccess) error = wait_for_copies(stream, group);
  // end of exercise
  if (error != cudaSuccess || slice.seq_q == 0) return error;
  const size_t own_offset = head_bytes * first * own_keys(slice, slice.rank);
  const size_t query_offset = head_bytes * first_query * slice.seq_q;
  const part_args part = {slice,
                          (const char *)args->q + query_offset,
                          (const char *)args->k + own_offset,
                          (const char *)args->v + own_offset,
                          K_slice,
                          V_slice,
                          (char *)args->o + query_offset,
                          args->lse ? args->lse + (size_t)first_query * slice.seq_q : NULL,
                          (unsigned long long *)args->workspace + number};
  return launch_part(&part, stream);
}

cudaError_t attention_forward_group(const attention_args *args, const attention_group *group,
                                    cudaStream_t stream) {
  const part shape = part_of(args->shape, group);
  const int heads = shape.batch * shape.kv_heads; // of K and V
  // The ranks meet before the copies, because K and V of all ranks must be ready. They do not meet behind them: NCCL's
  // kernel would wait on a multiprocessor for the other ranks, and the tiles that are dealt out to it would wait, too.
  cudaError_t error = meet(args, group, stream);
  // All other streams wait for the meeting, and so for what the caller has enqueued before: a kernel may still write
  // Q, or read the slices of the launch before in the workspace.
  for (int rank = 0; rank < group->ranks && error == cudaSuccess; rank++)
    error = wait_for(group->copies[rank], stream);
  if (error == cudaSuccess) error = wait_for(group->products, stream);
  // When the last slice has come, its products are still to be done, so no slice has more than a quarter of the heads.
  // Each copy takes some microseconds beside its bytes. So smaller slices only pay where there is one other rank.
  const int quarter = divide_up(heads, 4);
  int count = group->ranks > 2 ? quarter : divide_up(heads, 8);
  for (int first = 0, number = 0; first < heads && error == cudaSuccess; number++) {
    count = min(count, heads - first);
    error = forward_slice(slice_of(shape, count), first, number, args, group,
                          number % 2 ? group->products : stream);
    first += count;
    // The products of a slice must hide the copies of the next. So a slice has at most as many heads as all before it.
    count = min(first, quarter);
  }
  if (error == cudaSuccess) error = wait_for_copies(stream, group);
  if (error == cudaSuccess) error = wait_for(stream, group->products);
  return error;
}
