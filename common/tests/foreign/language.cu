// What nvcc's language and the runtime API have beyond the lab's own steps.
#include "feature.h"
#include "kernels.cuh"

#include <vector>

template <typename T>
struct device_array { // managed memory, so that host and device write it
  T *at;
  explicit device_array(int n) { cudaMallocManaged(&at, n * sizeof(T)); }
  ~device_array() { cudaFree(at); }
};

FEATURE(launches_in_headers,
        "launches in headers, with deduced template arguments, default arguments, and host "
        "variables named gridDim",
        "") {
  device_array<float> x(40);
  for (int i = 0; i < 40; i++) x.at[i] = i;
  scale_all(x.at, 40);
  scale<float, 3><<<2, 32>>>(x.at, 40, 0.5f);
  add_each<<<1, 40>>>(x.at, 1, 2.5, 4u);
  CHECK(cudaDeviceSynchronize());
  return x.at[39] == (39 * 2 + 1) * 3 + 0.5f + 7.5f;
}

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
static void twice(int *x, int threads) {
  twice<<<1, threads>>>(x);
} // the host's function has the kernel's name

// clang-format off
static void twice_with_blanks(int *x) { twice << < 1, dim3(4) >> > (x); }
// clang-format on

FEATURE(overloaded_kernels,
        "a kernel and a host function of one name; `<< <` and `>> >` with blanks", "") {
  device_array<int> x(4);
  for (int i = 0; i < 4; i++) x.at[i] = i;
  twice(x.at, 4);
  twice_with_blanks(x.at);
  CHECK(cudaDeviceSynchronize());
  return x.at[3] == 12;
}

extern __shared__ float tile[];
__device__ void reverse_tile(float *x) {
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void reverse(float *x) { reverse_tile(x); }

FEATURE(shared_at_file_scope, "extern __shared__ arrays outside of functions", "") {
  device_array<float> x(64);
  for (int i = 0; i < 64; i++) x.at[i] = i;
  reverse<<<1, 64, 64 * sizeof(float)>>>(x.at);
  CHECK(cudaDeviceSynchronize());
  return x.at[0] == 63 && x.at[63] == 0;
}

__global__ void architecture(int *out) {
  const int lanes = __reduce_add_sync(0xffffffffu, 1);
  if (threadIdx.x > 0) return;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  out[0] = __CUDA_ARCH__;
#else
  out[0] = -1;
#endif
  out[1] = __dp4a(0x01020304, 0x01010101, 5);
  out[1] += __dp2a_lo(make_short2(-1, 2), make_char4(3, 4, 0, 0), 0); // -3 + 8
  out[1] += __dp2a_hi(0x00020001u, 0xFF020000u, 10u);                 // 2 + 2 * 255 + 10
  out[2] = umin(3u, 4u);
  out[3] = lanes;
}

FEATURE(device_code_by_architecture,
        "__CUDA_ARCH__ in device code, as -arch says; __dp4a, __dp2a_lo, umin, __reduce_add_sync",
        "") {
  device_array<int> x(4);
  architecture<<<1, 32>>>(x.at);
  CHECK(cudaDeviceSynchronize());
  return x.at[0] >= 800 && x.at[1] == 15 + 5 + 522 && x.at[2] == 3 && x.at[3] == 32;
}

#ifndef __CUDA_ARCH__
static int only_the_host_has_it() { return 7; }
#endif

__host__ __device__ static int side(int x) {
#ifdef __CUDA_ARCH__
  return x + __CUDA_ARCH__;
#else
  return x + only_the_host_has_it();
#endif
}

template <typename T>
struct counted {
  T value;
  __host__ __device__ explicit counted(T x) : value(x) {
#ifdef __CUDA_ARCH__
    value += 1;
#endif
  }
  __host__ __device__ static constexpr T scaled(T x) {
#if defined(__CUDA_ARCH__)
    return x * 2;
#else
    return x * 3;
#endif
  }
};

#ifdef __CUDA_ARCH__
#define BLOCKS_AT_LEAST 2
#else
#define BLOCKS_AT_LEAST 1
#endif
__global__ void __launch_bounds__(256, BLOCKS_AT_LEAST) of_the_device(int *x) {
  x[0] = side(0);
  x[1] = counted<int>(5).value;
  x[2] = counted<int>::scaled(x[1]);
}

template <typename F>
__global__ void apply(F f, int *x) {
  x[threadIdx.x] = f(x[threadIdx.x]);
}

FEATURE(extended_lambdas, "device lambdas as kernel arguments", "") {
  device_array<int> x(8);
  for (int i = 0; i < 8; i++) x.at[i] = i;
  const int factor = 5;
  apply<<<1, 8>>>([=] __device__(int v) { return v * factor; }, x.at);
  CHECK(cudaDeviceSynchronize());
  return x.at[7] == 35;
}

FEATURE(functions_of_both_sides,
        "__CUDA_ARCH__ in functions that are __host__ and __device__, in host code and in lambdas: "
        "each side has its own form",
        "a type or function that has two forms: the device's is compiled, with a warning; a lambda "
        "that captures on one side alone runs, and nvcc refuses it or compiles it wrongly") {
  device_array<int> x(4);
  of_the_device<<<1, 1>>>(x.at);
  const auto which = [=] __host__ __device__(int v) {
#ifdef __CUDA_ARCH__
    return v + 10;
#else
    return v - 10;
#endif
  };
  CHECK(cudaDeviceSynchronize());
  x.at[3] = 4;
  apply<<<1, 4>>>( // both forms use `which`: nvcc wants the same captures on both sides
      [=] __device__(int v) {
#ifdef __CUDA_ARCH__
        return which(v);
#else
        return which(v) - 1;
#endif
      },
      x.at);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
#ifdef __CUDA_ARCH__ // nvcc compiles host code for the GPU's side, too, and runs it on the host's alone
  return false;
#else
  static_assert(counted<int>::scaled(2) == 6, "a constant is of the host's side");
  const bool right = x.at[0] >= 810 && x.at[1] == 16 && x.at[2] == 22 && x.at[3] == 14 &&
                     which(0) == -10 && side(1) == 8 && counted<int>(5).value == 5;
  if (!right)
    printf("%d %d %d %d, %d %d %d\n", x.at[0], x.at[1], x.at[2], x.at[3], which(0), side(1),
           counted<int>(5).value);
  return right;
#endif
}

__global__ void add_tree(int *sum, int depth) {
  atomicAdd(sum, 1);
  if (threadIdx.x == 0 && depth > 0) add_tree<<<2, 2>>>(sum, depth - 1);
}

// A template that launches itself, and a kernel that has the name of another one, which is only declared.
template <int STEP>
__global__ void count_down(int *sum, int depth) {
  atomicAdd(sum, STEP);
  if (depth > 0) count_down<STEP><<<1, 1>>>(sum, depth - 1);
}
__global__ void count_up(int *sum);
__global__ void count_up(int *sum, int to) {
  atomicAdd(sum, 1000);
  if (*sum < to) count_up<<<1, 1>>>(sum, to);
}

FEATURE(launches_in_kernels,
        "kernels that launch kernels, also themselves, which begin when their parent ends",
        "cudaDeviceSynchronize() in a kernel, as in CUDA 12; the streams for tail launches") {
  device_array<int> sum(1);
  *sum.at = 0;
  add_tree<<<1, 2>>>(sum.at, 3);
  CHECK(cudaDeviceSynchronize());
  if (*sum.at != 2 + 4 + 8 + 16) return false;
  count_down<10><<<1, 1>>>(sum.at, 4);
  count_up<<<1, 1>>>(sum.at, 3000);
  CHECK(cudaDeviceSynchronize());
  return *sum.at == 30 + 50 + 3000;
}

__global__ void two_clocks(long long *x) {
  const clock_t start = clock();
  while (clock() - start < 2000000) {
  } // two seconds, if it were the host's clock
  x[0] = clock64() - clock();
}

FEATURE(clocks, "clock() and clock64() in kernels, clock() on the host",
        "they count nanoseconds of the host") {
  device_array<long long> x(1);
  const clock_t start = clock();
  two_clocks<<<1, 1>>>(x.at);
  CHECK(cudaDeviceSynchronize());
  return llabs(x.at[0]) < 1000000000 && clock() - start < CLOCKS_PER_SEC;
}

__global__ void add_one(int *x, size_t pitch) {
  ((int *)((char *)x + threadIdx.y * pitch))[threadIdx.x] += 1;
}

// A box of 4 x 2 x 2 within 5 x 3 x 2 numbers.
static bool copies_of_boxes() {
  int host[2][3][5] = {}, box[2][2][4] = {};
  for (int i = 0; i < 16; i++) box[i / 8][i / 4 % 2][i % 4] = i;
  cudaPitchedPtr device;
  const cudaExtent all = make_cudaExtent(5 * sizeof(int), 3, 2);
  CHECK(cudaMalloc3D(&device, all));
  CHECK(cudaMemset3D(device, 0, all));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(box, 4 * sizeof(int), 4 * sizeof(int), 2);
  copy.dstPtr = device;
  copy.dstPos = make_cudaPos(sizeof(int), 1, 0);
  copy.extent = make_cudaExtent(4 * sizeof(int), 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  for (int z = 0; z < 2; z++)
    add_one<<<1, dim3(5, 3)>>>((int *)device.ptr + z * 3 * device.pitch / sizeof(int),
                               device.pitch);
  cudaMemcpy3DParms back = {};
  back.srcPtr = device;
  back.dstPtr = make_cudaPitchedPtr(host, 5 * sizeof(int), 5 * sizeof(int), 3);
  back.extent = all;
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&back));
  CHECK(cudaStreamSynchronize(0));
  CHECK(cudaFree(device.ptr));
  return host[0][0][4] == 1 && host[0][1][0] == 1 && host[0][1][1] == 1 && host[1][2][4] == 16;
}

FEATURE(pitched_memory,
        "cudaMallocPitch, cudaMemcpy2D, cudaMemset2D, and those of three dimensions",
        "arrays and textures: \"the emulator has no textures\"") {
  int host[3][5] = {}, *device;
  size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, 5 * sizeof(int), 3));
  CHECK(cudaMemset2D(device, pitch, 0, 5 * sizeof(int), 3));
  add_one<<<1, dim3(5, 3)>>>(device, pitch);
  CHECK(cudaMemcpy2D(host, 5 * sizeof(int), device, pitch, 5 * sizeof(int), 3,
                     cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  return host[2][4] == 1 && host[0][0] == 1 && copies_of_boxes();
}

FEATURE(host_memory, "cudaHostRegister, cudaHostGetDevicePointer, cudaMemPrefetchAsync", "") {
  std::vector<int> host(8, 3);
  int *device;
  CHECK(cudaHostRegister(host.data(), 8 * sizeof(int), cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer((void **)&device, host.data(), 0));
  twice<<<1, 8>>>(device);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaHostUnregister(host.data()));
  return host[7] == 6;
}

static void CUDART_CB note(void *data) { *(int *)data += 1; }

FEATURE(graphs_and_callbacks,
        "stream capture, graphs of kernels, copies and host functions, cudaLaunchHostFunc",
        "calls of cuBLAS in a capture, and other host threads that use its streams: refused, or "
        "done at once") {
  device_array<int> x(8);
  for (int i = 0; i < 8; i++) x.at[i] = 1;
  int calls = 0;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  twice<<<1, 8, 0, stream>>>(x.at);
  CHECK(cudaLaunchHostFunc(stream, note, &calls));
  CHECK(cudaStreamEndCapture(stream, &graph));
  if (x.at[0] != 1 || calls != 0) return false; // only captured so far
  CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  return x.at[7] == 8 && calls == 3;
}

FEATURE(occupancy, "cudaOccupancyMaxPotentialBlockSize and the blocks of a multiprocessor",
        "registers are not counted, which only nvcc knows") {
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, reverse, 0, 0));
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale<float>, block, 0,
                                                               cudaOccupancyDefault));
  CHECK(cudaFuncSetSharedMemConfig(scale<float>, cudaSharedMemBankSizeEightByte));
  return block == 1024 && grid > 0 && blocks > 0;
}
