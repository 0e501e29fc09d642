// For the tests of clusters: how they launch one, and on which GPUs they can.
#ifndef TEST_CLUSTERS_H
#define TEST_CLUSTERS_H

#include "device_array.h"
#include "semantics.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// GPUs without clusters compile empty kernels, and do not run them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define KERNEL_WITH_CLUSTERS(...)                                                                  \
  {}
#else
#define KERNEL_WITH_CLUSTERS(...) __VA_ARGS__
#endif

template <typename... Parameters, typename... Arguments>
static cudaError_t launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                   size_t bytes, dim3 cluster, Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

static inline bool device_has_clusters() {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major >= 9;
}

template <typename Kernel>
static void allow_large_clusters(Kernel kernel) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

#endif
