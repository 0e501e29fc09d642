// nvcc-cpu: a project that knows nothing of the lab builds and gives the right answers, and what the emulator lacks is one
// line.
#define _GNU_SOURCE
#include "nvcc_cpu.h"

TestSuite(nvcc_cpu, .init = lab_enter, .fini = lab_leave);

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
  const script_result one = lab_run("%s/foreign contexts", lab_work);
  EXPECT_STATUS(one, 0);
  EXPECT(one, "ok contexts: ");
  cr_expect_null(strstr(one.out, "forks"), "%s", one.out);
  const script_result none = lab_run("%s/foreign nothing", lab_work);
  EXPECT_STATUS(none, 2);
  EXPECT(none, "foreign: no feature is called \"nothing\".");
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

Test(nvcc_cpu, every_feature_of_thrust_and_cub, .timeout = 240) {
  need_libraries();
  check_features("libraries", "libraries.cu");
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

// The emulator's headers have types of these names.
Test(nvcc_cpu, macros_that_are_single_letters, .timeout = 60) {
  write_source(
      "letters.cu",
      "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n"
      "#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
      "#include <cuComplex.h>\n#include <cuda/atomic>\n#include <cuda/barrier>\n"
      "#include <cuda/pipeline>\n#include <cuda/std/functional>\n#include <cuda_bf16.h>\n"
      "#include <cuda_fp8.h>\n#include <curand.h>\n#include <curand_kernel.h>\n"
      "#include <mma.h>\n"
      "__global__ void k(int *x) { *x = A + T + Z; asm(\"add.s32 %0, %0, 1;\" : \"+r\"(*x)); }\n"
      "int main() { int *x; cudaMallocManaged(&x, 4);\n"
      "  k<<<1, 1>>>(x);\n"
      "  return cudaDeviceSynchronize() != cudaSuccess || *x != 13; }\n");
  EXPECT_STATUS(lab_run(BUILT_AS "$(printf -- '-D%%s=4 ' A B C D E F G H I J K L M N O P Q R S T U "
                                 "V W X Y Z) letters.cu -o letters && ./letters",
                        lab_work),
                0);
}

// nvcc 13 refuses these names, but a book that has them is read all the same.
Test(nvcc_cpu, names_from_older_books, .timeout = 60) {
  write_source("older.cu", "__global__ void k(int *x) { *x = 3; }\n"
                           "int main() { int *x; cudaMallocManaged(&x, 4);\n"
                           "  k<<<1, 1>>>(x);\n"
                           "  if (cudaThreadSynchronize() != cudaSuccess || *x != 3) return 1;\n"
                           "  return cudaThreadExit() != cudaSuccess; }\n");
  EXPECT_STATUS(lab_run(BUILT_AS "older.cu -o older && ./older", lab_work), 0);
}

// The compiler's words about templates go on for pages.
Test(nvcc_cpu, what_is_missing_is_one_line, .timeout = 120) {
  static const char *const programs[][2] = {
      {"__global__ void k() {\n  asm volatile(\"tcgen05.fence::before_thread_sync;\");\n}\n",
       "lacks.cu:2: the emulator has no PTX instruction tcgen05.fence::before_thread_sync"},
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
      {"__global__ void k(int *x) {\n  *x = __shfl_down(*x, 1);\n}\n",
       "lacks.cu:2: \"__shfl_down\" was not declared in this scope: GPUs from sm_70 on do not have "
       "it: call __shfl_down_sync, whose first argument is the mask of the lanes"},
      {"__global__ void k(int *x) {\n  *x = __any(*x);\n}\n",
       "GPUs from sm_70 on do not have it: call __any_sync"},
      {"int main() {\n  cudaMallocArray(0);\n}\n",
       "lacks.cu:2: \"cudaMallocArray\" was not declared in this scope: the emulator has no "
       "textures"},
      {"#include <cuda_gl_interop.h>\n",
       "cuda_gl_interop.h: No such file or directory: the emulator has no OpenGL"},
      {"\n#include <cuda_fp6.h>\n", "lacks.cu:2: the emulator has no 6-bit floating point"},
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
