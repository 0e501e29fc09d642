// 26_early_merge: the merge kernel is launched before the attention kernel ends.
// Needs: sm_90a
// After: 24_last_wave
//
// Step 24 launches two kernels, one after the other. The second one is only launched when all blocks of the first one
// have ended and what they wrote has arrived in memory, and its blocks need some time to start. Here it is launched
// early: its blocks start when the last block of the first kernel ends. They compute which rows they have, and wait
// until they can see all that the first kernel wrote. CUDA calls this programmatic dependent launch.
//
//       step 24     | attention kernel | memory                 | launch | rows | merge |
//       step 26     | attention kernel | memory                 | merge |
//                                      | launch | rows | wait   |
//
// Cost: up to 6 % in a replayed CUDA graph, where there is hardly anything left to hide. The results are those of
// step 24. They have the same bits wherever two launches of that step do; step 17 says when the last bits may differ.
#include "last_wave.cuh"

// Launches a kernel that may begin before the kernel before it in the stream has ended (CUDA C++ Programming Guide,
// "Programmatic Dependent Launch and Synchronization"): here when the last block ends, as none gives a signal before.
// It must wait for that kernel's results before it uses them. cudaGetLastError() returns the error, as with <<<>>>.
template <typename... Parameters, typename... Arguments>
static void launch_early(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                         cudaStream_t stream, const Arguments &...arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  // exercise: give the launch the attribute that lets it begin early, and launch the kernel
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
  // end of exercise
}

template <typename tile, typename Element, int D, bool LSE, bool DIVIDED>
__launch_bounds__(tile::THREADS, 1) __global__
    void attention_kernel(const __grid_constant__ tensor_maps maps, Element *O, float *lse,
                          attention_shape shape, divided_schedule order) {
  if (!DIVIDED) order.partials.splits = 1; // now the compiler knows it, and leaves the parts out
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

// Merges the parts of the divided tiles. D / 4 threads have a row, four columns each, and take its parts in order.
// So the result is the same from launch to launch.
template <typename tile, typename Element, int D>
__launch_bounds__(MERGE_THREADS) __global__
    void merge_kernel(Element *O, float *lse, attention_shape shape, divided_schedule order) {
  const partial_results &partials = order.partials;
  const size_t i = (size_t)blockIdx.x * MERGE_THREADS + threadIdx.x;
  const size_t divided_row = i / (D / 4); // among the rows of all divided tiles
  const int d = i % (D / 4) * 4;
  const int number = order.whole + (int)(divided_row / tile::BLOCK_M); // of the tile
  const tile_place place = tile_in_order<tile>(shape, (const schedule &)order, number);
  const int row = divided_row % tile::BLOCK_M;
  // At least one row of each divided tile exists, so some threads reach the wait below. Therefore this kernel never ends
  // before the attention kernel, and the next launch may write new parts.
  if (row >= place.rows) return;
  partial_row sums;
  // exercise: wait for the end of the attention kernel, then merge the row's parts
  cudaGridDependencySynchronize(); // from here on the thread sees the parts
#pragma unroll 4
  for (int part = 0; part < partials.splits; part++) {
    const size_t from = part * partials.rows + divided_row;
    merge(sums, partials.max_sum[from], *(float4 *)&partials.O[from * D + d], shape.scale * LOG2_E);
  }
  // end of exercise
  store_merged<D>(sums, O, lse, place.first_row + row, d, shape.scale * LOG2_E);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  divided_schedule order;
  cudaError_t error = make_schedule<tile>(&order, args, stream);
  if (error == cudaSuccess) error = divide_last_wave<tile, D>(&order, args);
  if (error != cudaSuccess) return error;
  const unsigned merge_blocks = (unsigned)(order.partials.rows * (D / 4) / MERGE_THREADS);
  const bool divided = merge_blocks > 0;
  const auto kernel = args->lse ? divided ? attention_kernel<tile, Element, D, true, true>
                                          : attention_kernel<tile, Element, D, true, false>
                      : divided ? attention_kernel<tile, Element, D, false, true>
                                : attention_kernel<tile, Element, D, false, false>;
  error = allow_shared_memory(kernel, SHARED_BYTES<tile, D>);
  tensor_maps maps;
  if (error == cudaSuccess) error = describe_tensors<tile>(&maps, args);
  if (error != cudaSuccess) return error;
  kernel<<<order.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(maps, (Element *)args->o,
                                                                         args->lse, shape, order);
  if (divided)
    launch_early(merge_kernel<tile, Element, D>, merge_blocks, MERGE_THREADS, stream,
                 (Element *)args->o, args->lse, shape, order);
  return cudaGetLastError();
}

const char *attention_name(void) { return "26_early_merge"; }

const char *attention_summary(void) {
  return "the merge kernel is launched before the other one ends";
}

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
