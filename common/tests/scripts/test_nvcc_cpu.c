// nvcc-cpu: a project that knows nothing of the lab builds and gives the right answers; faults are found, and what the
// emulator lacks is one line.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(nvcc_cpu, .init = lab_enter, .fini = lab_leave);

#define BUILT_AS "lab=$PWD; exec 2>&1; cd %s && env -u NVCC_CPU_MODE $lab/scripts/nvcc-cpu -O0 "

static void write_source(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", lab_work, name);
  FILE *file = fopen(path, "w");
  cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

// Builds the program from `sources`, all in common/tests/foreign. Each feature has a line, and there are as many as the
// sources have.
static void check_features(const char *program, const char *sources) {
  script_result result = lab_run("env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -C "
                                 "common/tests/foreign NVCC=$PWD/scripts/nvcc-cpu "
                                 "OUT=%s %s/%s && %s/%s",
                                 lab_work, lab_work, program, lab_work, program);
  EXPECT_STATUS(result, 0);
  cr_expect(!strstr(result.out, "WRONG"), "%s", result.out);
  EXPECT(result, "emulated NVIDIA H200");
  const int lines =
      atoi(lab_run("cd common/tests/foreign && grep -h '^FEATURE(' %s | wc -l", sources).out);
  int right = 0;
  for (const char *at = result.out; (at = strstr(at, "ok      ")) != NULL; at++) right++;
  cr_expect_eq(right, lines, "%d of %d: %s", right, lines, result.out);
}

Test(nvcc_cpu, every_feature_of_the_foreign_project, .timeout = 240) {
  check_features("foreign", "$(ls *.cu | grep -v libraries)");
}

// What only the emulator took would be no feature of CUDA. Nothing runs, so no GPU is needed.
Test(nvcc_cpu, nvcc_builds_the_foreign_project_as_well, .timeout = 240) {
  if (lab_run("nvcc --version | grep -q 'release 1[3-9]'").status != 0)
    cr_skip_test("there is no nvcc of CUDA 13");
  EXPECT_STATUS(lab_run("env -u MAKEFLAGS -u MAKELEVEL make -s -j2 -C common/tests/foreign "
                        "NVCC=nvcc OUT=%s %s/foreign",
                        lab_work, lab_work),
                0);
}

// Thrust and CUB may lie in the system's folders, or where make deps PREFIX=.deps has put them.
static void need_libraries(void) {
  if (lab_run("scripts/deps.sh --missing | grep -q -e libthrust-dev -e libcub-dev").status == 0)
    cr_skip_test("Thrust and CUB are not installed (make deps installs them)");
}

Test(nvcc_cpu, every_feature_of_thrust_and_cub, .timeout = 240) {
  need_libraries();
  check_features("libraries", "libraries.cu");
}

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

Test(nvcc_cpu, sanitize_looks_into_thrust_and_cub, .timeout = 240) {
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

Test(nvcc_cpu, the_guide_has_the_table_of_features) {
  EXPECT_STATUS(lab_run("scripts/features.sh --check"), 0);
  const script_result stale =
      lab_run("mkdir -p %s/common/tests && cp -r scripts guide %s && cp -r common/tests/foreign "
              "%s/common/tests && cd %s && sed -i '/^FEATURE(/{s/(/(another_/;q}' "
              "common/tests/foreign/language.cu && scripts/features.sh --check",
              lab_work, lab_work, lab_work, lab_work);
  EXPECT_STATUS(stale, 1);
  EXPECT(stale, "error: the table of guide/any_cuda_file.md is not what common/tests/foreign says");
}

// A name can have one form only; what only one side has is no loss.
Test(nvcc_cpu, a_form_that_is_left_out_is_named_once, .timeout = 120) {
  write_source("forms.cu", "#ifdef __CUDA_ARCH__\n"
                           "struct packed { int words[4]; };\n"
                           "#else\n"
                           "struct packed { long words[2]; };\n"
                           "#endif\n"
                           "#ifdef __CUDA_ARCH__\nenum { N = 1 };\n#else\nenum { N = 2 };\n#endif\n"
                           "#if __CUDA_ARCH__ >= 700\n__device__ int f() { return 1; }\n"
                           "#else\n__device__ int f() { return 2; }\n#endif\n"
                           "#ifndef __CUDA_ARCH__\nint main() { return N; }\n#endif\n");
  script_result result = lab_run(BUILT_AS "forms.cu -o forms; ./forms", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "forms.cu:4: warning: only the device's form of this code is compiled");
  cr_expect(strstr(strstr(result.out, "warning") + 1, "warning") == NULL, "%s", result.out);
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

Test(nvcc_cpu, sanitize_ends_with_1_and_count_prints_lines, .timeout = 240) {
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

Test(nvcc_cpu, sanitize_sees_structs_that_functions_return, .timeout = 120) {
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

// A file for the host alone may define functions that only device code has in CUDA, as helper_math.h of the samples does.
Test(nvcc_cpu, host_files_have_functions_of_their_own, .timeout = 120) {
  write_source("own.cpp", "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n#include <math.h>\n"
                          "inline int max(int a, int b) { return a > b ? a : b; }\n"
                          "inline float rsqrtf(float x) { return 1 / sqrtf(x); }\n"
                          "static double normcdf(double x) { return x + 1; }\n"
                          "int main() { return max(3, 4) + (int)rsqrtf(1) + (int)normcdf(1) +\n"
                          "                    (int)__half2float(half(2.0f)); }\n");
  EXPECT_STATUS(lab_run(BUILT_AS "own.cpp -o own && ./own", lab_work), 9);
}

Test(nvcc_cpu, options_and_toolkits, .timeout = 120) {
  write_source("plain.cu", "#include <cassert>\n__global__ void k(int *x) { assert(*x == N); }\n"
                           "int main() { int *x; cudaMallocManaged(&x, 4);\n"
                           "  if (*x == 0) return 7; // it has never been set\n"
                           "  *x = 3; k<<<1, 1>>>(x);\n"
                           "  return cudaDeviceSynchronize() != cudaSuccess; }\n");
  EXPECT_STATUS(
      lab_run("mkdir %s/toolkit && echo '#error a toolkit' > %s/toolkit/cuda_runtime_api.h && "
              "echo '#error a toolkit' > %s/toolkit/cuda_runtime.h",
              lab_work, lab_work, lab_work),
      0);
  script_result result =
      lab_run(BUILT_AS "plain.cu -o plain -D N=3 -gencode arch=compute_80,code=sm_80 -lineinfo "
                       "--ptxas-options=-v -Itoolkit --never-heard-of -lcudart && ./plain",
              lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "ignores --never-heard-of", "leaves out -Itoolkit");
  EXPECT_STATUS(lab_run("EMU_ZERO_MEMORY=1 %s/plain", lab_work), 7);
  result = lab_run(BUILT_AS "plain.cu -o plain -DN=4 && ./plain", lab_work); // assertions are kept
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Assertion `*x == N` failed");
  EXPECT_STATUS(lab_run(BUILT_AS "-optix-ir plain.cu", lab_work), 2);
  EXPECT_STATUS(lab_run(BUILT_AS "-ptx plain.cu plain.cu", lab_work), 2);
  EXPECT_STATUS(lab_run(BUILT_AS "missing.cu", lab_work), 2);
}

// A report names the line of a module. A module that was made for no mode, or for a GPU, is refused.
Test(nvcc_cpu, modules_are_sanitized, .timeout = 120) {
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

// The compiler's words about templates go on for pages.
Test(nvcc_cpu, what_is_missing_is_one_line, .timeout = 120) {
  static const char *const programs[][2] = {
      {"__global__ void k() {\n  asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n",
       "lacks.cu:2: the emulator has no PTX instruction wgmma.fence.sync.aligned"},
      {"int main() {\n  cudaFooBar(3);\n}\n",
       "lacks.cu:2: \"cudaFooBar\" was not declared in this scope: the emulator lacks cudaFooBar"},
      {"template <typename T> __global__ void k(T *x, T *y) {}\nint main() {\n  k<<<1, 1>>>((int "
       "*)0, "
       "(float *)0);\n}\n",
       "lacks.cu:3: no matching function for call to \"k(int*, float*)\""},
      {"__global__ void k(float *x, int n) {}\nint main() {\n  float *x = 0;\n  k<<<1, "
       "1>>>(x);\n}\n",
       "lacks.cu:4: the kernel has the parameters (float*, int), and the launch gives it (float*)"},
      {"__global__ int k() { return 1; }\nint main() {\n  k<<<1, 1>>>();\n}\n",
       "lacks.cu:3: a kernel returns void, and this one does not"},
      {"int main() {\n  cudaDevicesynchronize();\n}\n",
       "did you mean \"cudaDeviceSynchronize\"?\n"},
      {"int main() {\n  cudaMallocArray(0);\n}\n",
       "lacks.cu:2: \"cudaMallocArray\" was not declared in this scope: the emulator has no "
       "textures"},
      {"#include <cuda_gl_interop.h>\n",
       "cuda_gl_interop.h: No such file or directory: the emulator has no OpenGL"},
      {"\n#include <cuda_fp8.h>\n", "lacks.cu:2: the emulator has no 8-bit floating point"},
      {"#include <cutlass/cutlass.h>\n",
       "lacks.cu:1: cutlass/cutlass.h: No such file or directory: CUTLASS is not part"}};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    write_source("lacks.cu", programs[i][0]);
    const script_result result = lab_run(BUILT_AS "-c lacks.cu", lab_work);
    EXPECT_STATUS(result, 1);
    EXPECT(result, programs[i][1]);
    int lines = 0;
    for (const char *at = result.out; *at != '\0'; at++) lines += *at == '\n';
    cr_expect(lines <= 2, "%s", result.out);
  }
}

// The compiler's words where Thrust is not installed, whether it is here or not.
Test(nvcc_cpu, where_to_get_thrust) {
  const script_result result =
      lab_run("echo 'x.cu:1:10: fatal error: thrust/sort.h: No such file or directory' | "
              "awk -f scripts/nvcc_cpu_errors.awk");
  EXPECT(result, "error: x.cu:1: thrust/sort.h: No such file or directory: ", "make deps",
         "libthrust-dev");
}

// nvcc refuses such a kernel when it compiles it.
Test(nvcc_cpu, more_shared_variables_than_a_kernel_may_have, .timeout = 60) {
  write_source("large.cu", "__global__ void k(float *x) {\n"
                           "  __shared__ float tile[128][97];\n"
                           "  tile[threadIdx.x][0] = 1;\n"
                           "  *x = tile[0][0];\n"
                           "}\n"
                           "int main() {\n"
                           "  float *x;\n"
                           "  cudaMalloc(&x, 4);\n"
                           "  k<<<1, 1>>>(x);\n"
                           "  return cudaGetLastError();\n"
                           "}\n");
  const script_result result = lab_run(BUILT_AS "large.cu -o large && ./large", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Launch of k: 49664 bytes of __shared__ variables, and a kernel may have 49152");
}
