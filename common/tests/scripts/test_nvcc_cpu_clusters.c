// nvcc-cpu: kernels that say the size of their clusters, as the first example of the CUDA C++ Programming Guide does.
#define _GNU_SOURCE
#include "nvcc_cpu.h"

TestSuite(nvcc_cpu_clusters, .init = lab_enter, .fini = lab_leave);

// A kernel with its size in a macro, and one that launches itself. Another file has a static kernel of the same name.
static const char clusters[] =
    "#include <cooperative_groups.h>\n"
    "namespace cg = cooperative_groups;\n"
    "#define IN_PAIRS __cluster_dims__(PAIR, 1, 1)\n"
    "constexpr int PAIR = 2;\n"
    "static __global__ void IN_PAIRS kernel(int *x) {\n"
    "  __shared__ int own;\n"
    "  cg::cluster_group cluster = cg::this_cluster();\n"
    "  if (threadIdx.x == 0) own = blockIdx.x;\n"
    "  cluster.sync();\n"
    "  const int *other = cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);\n"
    "  if (threadIdx.x == 0) x[blockIdx.x] = *other;\n"
    "  cluster.sync();\n"
    "}\n"
    "template <typename T> __global__ void __cluster_dims__(sizeof(T)) again(T *x, int times) {\n"
    "  if (blockIdx.x == 0 && threadIdx.x == 0) *x += __clusterSizeInBlocks();\n"
    "  if (times > 0 && blockIdx.x == 0 && threadIdx.x == 0) again<<<8, 1>>>(x, times - 1);\n"
    "}\n"
    "int others(int *x);\n"
    "int main() { int *x; cudaMallocManaged(&x, 32); kernel<<<8, 64>>>(x);\n"
    "  if (cudaDeviceSynchronize() != cudaSuccess) return 1;\n"
    "  for (int i = 0; i < 8; i++) if (x[i] != (i ^ 1)) return 2;\n"
    "  *x = 0; again<<<8, 1>>>(x, 2);\n"
    "  if (cudaDeviceSynchronize() != cudaSuccess || *x != 12) return 3;\n"
    "  if (others(x) != 3) return 4;\n"
    "  kernel<<<7, 64>>>(x);\n"
    "  return cudaGetLastError() == cudaErrorInvalidClusterSize ? 0 : 5; }\n";
static const char other_clusters[] =
    "static __global__ void __cluster_dims__(3) kernel(int *x) {\n"
    "  if (blockIdx.x == 1) *x = __clusterDim().x;\n"
    "}\n"
    "int others(int *x) { kernel<<<3, 1>>>(x); cudaDeviceSynchronize(); return *x; }\n";

Test(nvcc_cpu_clusters, in_every_mode, .timeout = 240) {
  write_source("clusters.cu", clusters);
  write_source("others.cu", other_clusters);
  static const struct {
    const char *mode, *sources;
    int status; // a launch that is refused is a finding of the sanitizer
  } builds[] = {{"run", "clusters.cu others.cu", 0},
                {"sanitize", "others.cu clusters.cu", 1},
                {"count", "clusters.cu others.cu", 0}};
  for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
    const script_result result = lab_run(BUILT_AS "--mode=%s %s -o clusters && ./clusters",
                                         lab_work, builds[i].mode, builds[i].sources);
    EXPECT_STATUS(result, builds[i].status);
    EXPECT(result, "a grid of 7 x 1 x 1 blocks is no multiple of a cluster of 2 x 1 x 1");
  }
}

Test(nvcc_cpu_clusters, in_a_module, .timeout = 120) {
  write_source("squares.cu",
               "extern \"C\" __global__ void __cluster_dims__(2, 2) squares(int *x) {\n"
               "  if (threadIdx.x == 0) atomicAdd(x, __clusterRelativeBlockRank());\n"
               "}\n");
  write_source("load.cpp",
               "#include <cuda.h>\nint main() {\n"
               "  CUcontext context; CUmodule module; CUfunction squares; CUdeviceptr x;\n"
               "  int sum, width, depth;\n"
               "  cuInit(0); cuCtxCreate(&context, 0, 0);\n"
               "  if (cuModuleLoad(&module, \"squares.cubin\") != CUDA_SUCCESS) return 1;\n"
               "  void *arguments[] = {&x};\n"
               "  cuMemAlloc(&x, 4); cuMemsetD32(x, 0, 1);\n"
               "  cuModuleGetFunction(&squares, module, \"squares\");\n"
               "  cuLaunchKernel(squares, 4, 2, 1, 32, 1, 1, 0, 0, arguments, 0);\n"
               "  cuMemcpyDtoH(&sum, x, 4);\n"
               "  if (sum != 2 * (0 + 1 + 2 + 3)) return 2;\n"
               "  cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, squares);\n"
               "  cuFuncGetAttribute(&depth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, squares);\n"
               "  if (width != 2 || depth != 1) return 3;\n"
               "  if (cuFuncSetAttribute(squares, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4) !=\n"
               "      CUDA_ERROR_INVALID_VALUE) return 4;\n"
               "  return cuLaunchKernel(squares, 4, 3, 1, 32, 1, 1, 0, 0, arguments, 0) !=\n"
               "         CUDA_ERROR_INVALID_CLUSTER_SIZE ? 5 : 0; }\n");
  const script_result result = lab_run(
      BUILT_AS "-cubin squares.cu && $lab/scripts/nvcc-cpu load.cpp -lcuda -o load && ./load",
      lab_work);
  EXPECT_STATUS(result, 0);
}

Test(nvcc_cpu_clusters, what_is_wrong_is_one_line, .timeout = 120) {
  static const char *const programs[][2] = {
      {"__global__ void k() {}\n__global__ void __cluster_dims__(2, 0) l() {}\n",
       "wrong.cu:2: a side of __cluster_dims__ is 0: a cluster has 1 block at least in x, y and z"},
      {"__cluster_dims__(2) int x;\n",
       "wrong.cu:1: no kernel with a body follows this __cluster_dims__: write __global__ void"}};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    write_source("wrong.cu", programs[i][0]);
    const script_result result = lab_run(BUILT_AS "-c wrong.cu", lab_work);
    cr_expect(result.status != 0);
    EXPECT(result, programs[i][1]);
    cr_expect(strchr(result.out, '\n') == strrchr(result.out, '\n'), "%s", result.out);
  }
}
