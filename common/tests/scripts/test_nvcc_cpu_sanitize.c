// nvcc-cpu --mode=sanitize and --mode=count: what they find in kernels, in libraries and in modules.
#define _GNU_SOURCE
#include "nvcc_cpu.h"

TestSuite(nvcc_cpu_sanitize, .init = lab_enter, .fini = lab_leave);

// A barrier is missing between two calls that use the same memory, and a functor writes past a vector. The blocks of the
// scan wait for each other through memory without atomic operations, which is right.
static const char faults_in_libraries[] =
    "#include <cub/block/block_reduce.cuh>\n"
    "#include <cub/device/device_scan.cuh>\n"
    "#include <thrust/device_vector.h>\n"
    "__global__ void sum_twice(const int *x, int *out) {\n"
    "  using reduce = cub::BlockReduce<int, 64>;\n"
    "  __shared__ typename reduce::TempStorage space;\n"
    "  int sum = reduce(space).Sum(x[threadIdx.x]);\n"
    "  sum += reduce(space).Sum(x[threadIdx.x]);\n"
    "  if (threadIdx.x == 0) *out = sum;\n"
    "}\n"
    "struct write {\n"
    "  int *x;\n"
    "  __device__ void operator()(int &of_x) const { x[&of_x - x + 1] = 1; }\n"
    "};\n"
    "int main() {\n"
    "  thrust::device_vector<int> x(4096, 1), sums(4096), space(4096);\n"
    "  int *data = thrust::raw_pointer_cast(x.data()), *out = "
    "thrust::raw_pointer_cast(sums.data());\n"
    "  size_t bytes = 4096;\n"
    "  cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(space.data()), bytes, data, out, "
    "4096);\n"
    "  sum_twice<<<1, 64>>>(data, out);\n"
    "  thrust::for_each(x.begin(), x.end(), write{data});\n"
    "}\n";

Test(nvcc_cpu_sanitize, sanitize_looks_into_thrust_and_cub, .timeout = 240) {
  need_libraries();
  write_source("libraries.cu", faults_in_libraries);
  const script_result result =
      lab_run(BUILT_AS "--mode=sanitize libraries.cu -o libraries && ./libraries", lab_work);
  cr_expect(result.status != 0);
  EXPECT(result, "Race reported between read and write of __shared__ memory", "libraries.cu:7",
         "libraries.cu:8", "address space + ", "in kernel sum_twice",
         "Invalid __global__ write of size 4 bytes", "libraries.cu:13",
         "0 bytes past the end of an allocation of 16384 bytes");
  const char *race = strstr(result.out, "Race reported");
  cr_expect(!strstr(race + 1, "Race reported"), "%s", result.out);
}

static const char race[] =
    "#include <curand_kernel.h>\n"
    "__global__ void draw(curandState *states, float *x) {\n"
    "  if (threadIdx.x < 3) curand_init(1, threadIdx.x, 0, &states[threadIdx.x]);\n"
    "  x[threadIdx.x] = curand_uniform(&states[threadIdx.x]);\n"
    "}\n"
    "template <typename T> __device__ void shift(T *x) { x[threadIdx.x] = x[threadIdx.x + 1]; }\n"
    "template <typename T> __global__ void shift_kernel(T *x) {\n"
    "  __shared__ T part[33];\n"
    "  part[threadIdx.x] = x[threadIdx.x];\n"
    "  if (threadIdx.x == 0) part[32] = T(0);\n"
    "  __syncthreads();\n"
    "  shift(part);\n"
    "  __syncthreads();\n"
    "  x[threadIdx.x] = part[threadIdx.x];\n"
    "}\n"
    "__global__ void half_a_warp(int *x) {\n"
    "  x[threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 4);\n"
    "}\n"
    "int main() { int *x; cudaMallocManaged(&x, 128); for (int i = 0; i < 32; i++) x[i] = i;\n"
    "  curandState *states; cudaMalloc(&states, 4 * sizeof *states);\n"
    "  draw<<<1, 4>>>(states, (float *)x);\n"
    "  __sync_fetch_and_and(x, 7); __sync_val_compare_and_swap(x, 0, 0);\n" // of the host
    "  __atomic_signal_fence(__ATOMIC_SEQ_CST);\n"
    "  half_a_warp<<<1, 16>>>(x);\n"
    "  shift_kernel<<<1, 32>>>(x); return cudaDeviceSynchronize(); }\n";

Test(nvcc_cpu_sanitize, sanitize_ends_with_1_and_count_prints_lines, .timeout = 240) {
  write_source("race.cu", race);
  script_result result = lab_run(BUILT_AS "--mode=sanitize race.cu -o race && ./race", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Uninitialized __global__ memory read", "race.cu:4", "by thread (3,0,0)",
         "Shuffle from a lane that takes no part in it", "race.cu:17",
         "by thread (12,0,0) in block (0,0,0): it reads lane 16, which the block does not have");
  EXPECT(result, "Race reported between read and write of __shared__ memory", "race.cu:6",
         "called from race.cu:12", "in kernel shift_kernel<int>");
  cr_expect(!strstr(result.out, "Invalid"), "%s", result.out);
  result = lab_run(BUILT_AS "--mode=count race.cu -o count && ./count", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "x[threadIdx.x] = part[threadIdx.x];", "shared_load_requests");
  result = lab_run(BUILT_AS "race.cu -o race && ./race", lab_work);
  EXPECT_STATUS(result, 0);
}

// g++ does not tell of the stores of structs that a call returns, so kernels must have such functions inline.
static const char results[] =
    "struct row { float at[4]; };\n"
    "struct long_row { float at[12]; };\n"
    "__device__ row row_of(const float *x) { row r; for (int i = 0; i < 4; i++) r.at[i] = x[i]; "
    "return r; }\n"
    "__device__ __noinline__ long_row long_row_of(const float *x) {\n"
    "  long_row r; for (int i = 0; i < 12; i++) r.at[i] = x[i]; return r; }\n"
    "__global__ void stored(const float *x, float *out) {\n"
    "  __shared__ row rows[64]; __shared__ long_row long_rows[64];\n"
    "  rows[threadIdx.x] = row_of(x);\n"
    "  long_rows[threadIdx.x] = long_row_of(x);\n"
    "  __syncthreads();\n"
    "  out[threadIdx.x] = rows[63 - threadIdx.x].at[3];\n"
    "  out[threadIdx.x] += long_rows[63 - threadIdx.x].at[11];\n"
    "}\n"
    "__global__ void past_the_end(const float *x, row *out) {\n"
    "  out[threadIdx.x] = row_of(x);\n"
    "}\n"
    "int main(int argc, char **) {\n"
    "  float *x, *out; cudaMalloc(&x, 48); cudaMemset(x, 0, 48); cudaMalloc(&out, 256);\n"
    "  stored<<<1, 64>>>(x, out);\n"
    "  past_the_end<<<1, argc == 1 ? 16 : 17>>>(x, (row *)out);\n"
    "  return cudaDeviceSynchronize(); }\n";

Test(nvcc_cpu_sanitize, sanitize_sees_structs_that_functions_return, .timeout = 120) {
  write_source("results.cu", results);
  script_result result =
      lab_run(BUILT_AS "--mode=sanitize results.cu -o results && ./results", lab_work);
  EXPECT_STATUS(result, 0);
  cr_expect(!strstr(result.out, "====="), "%s", result.out);
  result = lab_run("%s/results broken 2>&1", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Invalid __global__ write", "results.cu:15",
         "by thread (16,0,0) in block (0,0,0)");
}

// g++ would read such a place once before the loop, and write it once behind it.
Test(nvcc_cpu_sanitize, reports_name_the_lines_in_a_loop, .timeout = 60) {
  write_source("loop.cu", "__global__ void count(int *sum, int n) {\n"
                          "  for (int i = 0; i < n; i++) {\n"
                          "    int old = *sum;\n"
                          "    *sum = old + 1;\n"
                          "  }\n"
                          "}\n"
                          "int main() {\n"
                          "  int *sum; cudaMalloc(&sum, 4); cudaMemset(sum, 0, 4);\n"
                          "  count<<<1, 2>>>(sum, 5);\n"
                          "  return cudaDeviceSynchronize(); }\n");
  const script_result result =
      lab_run(BUILT_AS "--mode=sanitize loop.cu -o loop && ./loop", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "write of 4 bytes at count", "loop.cu:4", "read of 4 bytes at count", "loop.cu:3");
}

// A report names the line of a module. A module that was made for no mode, or for a GPU, is refused.
Test(nvcc_cpu_sanitize, modules_are_sanitized, .timeout = 120) {
  write_source("shift.cu", "extern \"C\" __global__ void shift(int *x) {\n"
                           "  __shared__ int part[33];\n"
                           "  part[threadIdx.x] = x[threadIdx.x];\n"
                           "  x[threadIdx.x] = part[threadIdx.x ^ 1];\n}\n");
  write_source(
      "load.cpp",
      "#include <cuda.h>\nint main(int, char **words) {\n"
      "  CUcontext context; CUmodule module; CUfunction shift; CUdeviceptr x;\n"
      "  cuInit(0); cuCtxCreate(&context, 0, 0);\n"
      "  const CUresult loaded = cuModuleLoad(&module, words[1]);\n"
      "  if (loaded != CUDA_SUCCESS) return loaded == CUDA_ERROR_NO_BINARY_FOR_GPU ? 9 : 8;\n"
      "  void *arguments[] = {&x};\n"
      "  cuMemAlloc(&x, 128); cuMemsetD32(x, 5, 32);\n"
      "  cuModuleGetFunction(&shift, module, \"shift\");\n"
      "  cuLaunchKernel(shift, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0);\n"
      "  return cuCtxSynchronize(); }\n");
  script_result result =
      lab_run(BUILT_AS "-cubin --mode=sanitize shift.cu && "
                       "$lab/scripts/nvcc-cpu --mode=sanitize load.cpp -lcuda -o load && "
                       "./load shift.cubin",
              lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Race reported between", "shift.cu:4", "shift.cu:3", "in kernel shift");
  result = lab_run(BUILT_AS "-cubin shift.cu -o plain.cubin && ./load plain.cubin", lab_work);
  EXPECT_STATUS(result, 9);
  EXPECT(result, "was made for --mode=run of nvcc-cpu, and the program for --mode=sanitize");
  // The beginning of a fatbin, of NVIDIA's ELF (its machine is 190), and of PTX.
  static const struct {
    char bytes[100];
    const char *says;
  } images[] = {{"\x50\xED\x55\xBA", "is a fatbin, a GPU's machine code"},
                {"\x7F"
                 "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\xBE",
                 "is a cubin, a GPU's machine code"},
                {"//\n.version 9.0\n", "is PTX, which the emulator cannot compile"}};
  for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
    char path[256];
    snprintf(path, sizeof path, "%s/image", lab_work);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fwrite(images[i].bytes, sizeof images[i].bytes, 1, file) == 1 &&
              fclose(file) == 0);
    result = lab_run("cd %s && exec 2>&1; ./load image", lab_work);
    EXPECT_STATUS(result, 9);
    EXPECT(result, images[i].says, "make the module with scripts/nvcc-cpu");
  }
}
