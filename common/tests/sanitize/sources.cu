// What asynchronous copies and box copies read, changed while they are under way: the source, and the tensor map. Lines
// that a report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

#include <cuda_pipeline.h>

#define RUN(kernel, threads, ...)                                                                  \
  if (broken) kernel<false><<<1, threads, TWO_TILES>>>(__VA_ARGS__);                               \
  if (!broken) kernel<true><<<1, threads, TWO_TILES>>>(__VA_ARGS__);

// ---- Sources of cp.async ------------------------------------------------------------------------

template <bool right>
__global__ void itself_kernel(float *data, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4); // <- itself copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  data[threadIdx.x] = 1; // <- itself write
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
void source_written_by_itself(bool broken) {
  RUN(itself_kernel, 64, device_floats(64), device_floats(64))
}

// A thread's write right before its copy is in order, also where the thread writes elsewhere while the copy is under way.
template <bool right>
__global__ void before_kernel(float *data, float *out) {
  __shared__ float tile[64];
  if (right) data[threadIdx.x] = 1;
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4); // <- before copy
  __pipeline_commit();
  if (!right) data[threadIdx.x] = 1; // <- before write
  out[threadIdx.x] = 0;
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
void source_written_right_before(bool broken) {
  RUN(before_kernel, 64, device_floats(64), device_floats(64))
}

// Each thread clears the element that another one copies: not before the barrier behind that one's wait.
template <bool right>
__global__ void others_kernel(float *data, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4); // <- others copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  __syncthreads();
  data[63 - threadIdx.x] = 0; // <- others write
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
void source_written_by_others(bool broken) {
  RUN(others_kernel, 64, device_floats(64), device_floats(64))
}

// Warp 1 writes behind the barrier, and warp 0 waits there. In some orders the write comes behind the wait.
template <bool right>
__global__ void roles_kernel(float *data, float *out) {
  __shared__ float tile[32];
  if (threadIdx.x < 32) {
    __pipeline_memcpy_async(&tile[threadIdx.x], &data[threadIdx.x], 4); // <- roles copy
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
  }
  __syncthreads();
  if (threadIdx.x >= 32) {
    data[threadIdx.x - 32] = 0; // <- roles write
  } else {
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
  }
}
void source_written_before_wait(bool broken) {
  RUN(roles_kernel, 64, device_floats(32), device_floats(32))
}

// The tile of the round before goes back to its place, while the copy of the next one is under way. Where both are the
// same element, the copy may read it before or after.
template <bool right>
__global__ void in_place_kernel(float *data) {
  __shared__ float tile[2][32];
  const int stride = right ? 32 : 0;
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &data[threadIdx.x], 4);
  __pipeline_commit();
  for (int round = 0; round < 3; round++) {
    const float *next = &data[(round + 1) * stride + threadIdx.x];
    if (round < 2) __pipeline_memcpy_async(&tile[(round + 1) % 2][threadIdx.x], next, 4); // <- next
    __pipeline_commit();
    __pipeline_wait_prior(1);
    data[round * stride + threadIdx.x] = tile[round % 2][threadIdx.x] + 1; // <- in place
  }
}
void source_written_in_place(bool broken) { RUN(in_place_kernel, 32, device_floats(96)) }

// ---- Sources of box copies ----------------------------------------------------------------------

template <bool right>
__global__ void box_kernel(const __grid_constant__ CUtensorMap map, half *tensor, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, &map);
  if (right) barrier_wait(fetched.full, 0);
  if (threadIdx.x == 0) tensor[PANEL + 5] = __float2half(3); // <- box write
  barrier_wait(fetched.full, 0);
  out[threadIdx.x] = __half2float((*fetched.place)[threadIdx.x][0]);
}

// One thread waits for the copy, and behind the barrier another one may write. A write before the copy is right.
template <bool right>
__global__ void box_others_kernel(const __grid_constant__ CUtensorMap map, half *tensor,
                                  float *out) {
  extern __shared__ unsigned char memory[];
  if (threadIdx.x == 0) tensor[ROWS * PANEL - 2] = __float2half(2);
  writes_for_wgmma();
  const fetched_tile fetched = fetch_first(memory, &map);
  if (right && threadIdx.x == 0) barrier_wait(fetched.full, 0);
  __syncthreads();
  if (threadIdx.x == 40) tensor[ROWS * PANEL - 1] = __float2half(3); // <- box others write
  barrier_wait(fetched.full, 0);
  out[threadIdx.x] = __half2float((*fetched.place)[threadIdx.x][0]);
}

static half *tensor_of_zeros(CUtensorMap *map) {
  half *tensor = (half *)device_floats(TILE_BYTES / sizeof(float));
  describe_tensor(map, ATTENTION_FP16, tensor, 1, 1, ROWS, PANEL, ROWS);
  return tensor;
}
void box_source_written(bool broken) {
  CUtensorMap map;
  half *tensor = tensor_of_zeros(&map);
  RUN(box_kernel, 64, map, tensor, device_floats(64))
}
void box_source_written_by_others(bool broken) {
  CUtensorMap map;
  half *tensor = tensor_of_zeros(&map);
  RUN(box_others_kernel, 64, map, tensor, device_floats(64))
}

// ---- Wide copies --------------------------------------------------------------------------------

// The other thread writes the last of the bytes, when the copy is over and has been waited for.
template <bool right>
__global__ void wide_kernel(int *in) {
  __shared__ int4 tile;
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(&tile, in, 16); // <- wide copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  if (right) __syncthreads();
  if (threadIdx.x == 32) in[3] = 1; // <- wide write
}
void source_written_at_its_end(bool broken) {
  RUN(wide_kernel, 64, reinterpret_cast<int *>(device_floats(4)))
}

// ---- Tensor maps --------------------------------------------------------------------------------

template <bool right>
__global__ void map_kernel(const CUtensorMap *map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = fetch_first(memory, map); // <- map
  barrier_wait(fetched.full, 0);
  out[threadIdx.x] = __half2float((*fetched.place)[threadIdx.x][0]);
}
void box_map_on_host(bool broken) {
  const CUtensorMap map = map_of_zeros();
  CUtensorMap *const on_host = new CUtensorMap(map);
  CUtensorMap *on_device;
  cudaMalloc(&on_device, sizeof map);
  cudaMemcpy(on_device, &map, sizeof map, cudaMemcpyHostToDevice);
  RUN(map_kernel, 64, broken ? on_host : on_device, device_floats(64))
}
