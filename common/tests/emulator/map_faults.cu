#include "map_faults.h"

#include "hopper.cuh"

static constexpr int ROWS = 8, BOX_BYTES = ROWS * PANEL * 2;

// Of a tensor of half, with 1.0 everywhere.
static CUtensorMap map_of_ones() {
  half ones[ROWS * PANEL];
  for (half &one : ones) one = __float2half(1.0f);
  void *tensor = nullptr;
  cudaMalloc(&tensor, sizeof ones);
  cudaMemcpy(tensor, ones, sizeof ones, cudaMemcpyHostToDevice);
  CUtensorMap map;
  describe_tensor(&map, ATTENTION_FP16, tensor, 1, 1, ROWS, PANEL, ROWS);
  return map;
}

// Fetches the tensor, and adds up a row.
__device__ __forceinline__ void sum_row(const CUtensorMap *map, float *sum) {
  __shared__ __align__(1024) half tile[ROWS][PANEL + 512];
  __shared__ barrier full;
  half *place = (half *)((char *)tile + (-shared_address(tile) & 1023));
  barrier_create(&full, 1);
  barriers_created();
  barrier_arrive_expecting(&full, BOX_BYTES);
  copy_box(place, map, &full, 0, 0, 0, 0);
  barrier_wait(&full, 0);
  *sum = 0;
  for (int i = 0; i < PANEL; i++) *sum += __half2float(place[i]);
}

// Launches the kernel with a place for the sum behind the arguments; returns whether the sum is right.
template <typename Kernel, typename... Arguments>
static bool sums(Kernel kernel, const Arguments &...arguments) {
  float *sum = nullptr, value = 0;
  cudaMalloc(&sum, sizeof value);
  kernel<<<1, 1>>>(arguments..., sum);
  cudaMemcpy(&value, sum, sizeof value, cudaMemcpyDeviceToHost);
  cudaFree(sum);
  return value == PANEL;
}

__global__ void parameter_kernel(const __grid_constant__ CUtensorMap, int,
                                 const CUtensorMap __grid_constant__ second, float *sum) {
  sum_row(&second, sum);
}
bool map_in_parameter(void) { return sums(parameter_kernel, map_of_ones(), 1, map_of_ones()); }

struct two_maps {
  CUtensorMap first, second;
};
template <typename Maps, int COUNT>
__global__ void struct_kernel(__grid_constant__ const Maps maps, float *sum) {
  sum_row(&maps.second, sum);
}
bool map_in_struct(void) {
  return sums(struct_kernel<two_maps, 2>, two_maps{map_of_ones(), map_of_ones()});
}

__constant__ CUtensorMap constant_map;
__global__ void constant_kernel(float *sum) { sum_row(&constant_map, sum); }
bool map_in_constant(void) {
  const CUtensorMap map = map_of_ones();
  cudaMemcpyToSymbol(constant_map, &map, sizeof map);
  return sums(constant_kernel);
}

__global__ void global_kernel(const CUtensorMap *map, float *sum) { sum_row(map, sum); }
bool map_in_global(void) {
  const CUtensorMap map = map_of_ones();
  CUtensorMap *copy = nullptr;
  cudaMalloc(&copy, sizeof map);
  cudaMemcpy(copy, &map, sizeof map, cudaMemcpyHostToDevice);
  return sums(global_kernel, copy);
}

__global__ void by_value_kernel(const CUtensorMap map, const __grid_constant__ CUtensorMap other,
                                float *sum) {
  sum_row(&map, sum);
}
void fault_map_by_value(void) { sums(by_value_kernel, map_of_ones(), map_of_ones()); }

__global__ void local_kernel(const __grid_constant__ CUtensorMap map, float *sum) {
  const CUtensorMap copy = map;
  sum_row(&copy, sum);
}
void fault_map_in_local(void) { sums(local_kernel, map_of_ones()); }

// A map must begin at a multiple of 64 bytes.
void fault_map_misaligned(void) {
  const CUtensorMap map = map_of_ones();
  char *copy = nullptr;
  cudaMalloc(&copy, 2 * sizeof map);
  cudaMemcpy(copy + 32, &map, sizeof map, cudaMemcpyHostToDevice);
  sums(global_kernel, (const CUtensorMap *)(copy + 32));
}

__device__ void sum_row_of(CUtensorMap map, float *sum) { sum_row(&map, sum); }
__global__ void passing_kernel(const __grid_constant__ CUtensorMap map, float *sum) {
  sum_row_of(map, sum);
}
void fault_map_passed_on(void) { sums(passing_kernel, map_of_ones()); }

__global__ void shared_kernel(const __grid_constant__ CUtensorMap map, float *sum) {
  __shared__ CUtensorMap copy;
  copy = map;
  sum_row(&copy, sum);
}
void fault_map_in_shared(void) { sums(shared_kernel, map_of_ones()); }
