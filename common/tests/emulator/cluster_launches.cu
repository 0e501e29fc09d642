// Tests which clusters can be launched, and what the host is told of them.
#include "clusters.h"

__global__ void one_int_kernel(int *out) KERNEL_WITH_CLUSTERS({
  if (out != nullptr && threadIdx.x == 0) out[blockIdx.x] = int(cg::this_cluster().num_blocks());
})

    static bool expect_error(error_text *error, const char *what, cudaError_t got,
                             cudaError_t right) {
  const cudaError_t last = cudaGetLastError();
  if (got == right && last == right) return true;
  return fail(error, "%s gives %s and then %s, not %s", what, cudaGetErrorName(got),
              cudaGetErrorName(last), cudaGetErrorName(right));
}

bool cluster_launches_refused(error_text *error) {
  if (!device_has_clusters()) return true;
  int *none = nullptr;
  const cudaError_t size = cudaErrorInvalidClusterSize;
  const auto launch = [=](dim3 grid, dim3 cluster) {
    return launch_clusters(one_int_kernel, grid, 32, 0, cluster, none);
  };
  cudaFuncSetAttribute(one_int_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 0);
  if (!expect_error(error, "a cluster of 9 blocks", launch(18, 9), size) ||
      !expect_error(error, "a cluster of 16 blocks", launch(16, 16), size) ||
      !expect_error(error, "3 blocks in clusters of 2", launch(3, 2), size) ||
      !expect_error(error, "4 x 4 blocks in clusters of 2 x 3", launch(dim3(4, 4), dim3(2, 3)),
                    size) ||
      !expect_error(error, "a cluster of 2 x 0 x 1 blocks", launch(2, dim3(2, 0, 1)), size) ||
      !expect_error(error, "a cluster of 8 blocks", launch(16, 8), cudaSuccess) ||
      !expect_error(error, "a cluster that is not said", launch(3, dim3(0, 0, 0)), cudaSuccess))
    return false;
  allow_large_clusters(one_int_kernel);
  if (!expect_error(error, "an allowed cluster of 16 blocks", launch(16, 16), cudaSuccess) ||
      !expect_error(error, "a cluster of 17 blocks", launch(17, 17), size) ||
      !expect_error(error, "a cluster of 32 blocks", launch(32, 32), size))
    return false;
  cudaLaunchAttribute attribute = {};
  attribute.id = static_cast<cudaLaunchAttributeID>(77);
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return expect_error(error, "an unknown attribute",
                      cudaLaunchKernelEx(&config, one_int_kernel, none), cudaErrorInvalidValue);
}

bool cluster_launches_occupancy(error_text *error) {
  if (!device_has_clusters()) return true;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.blockDim = 1024;
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (int allowed = 0; allowed < 2; allowed++) {
    cudaFuncSetAttribute(one_int_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed);
    for (unsigned size : {2, 8, 16, 32}) {
      attribute.val.clusterDim.x = size;
      config.gridDim = 3 * size;
      int clusters = -1;
      const cudaError_t got = cudaOccupancyMaxActiveClusters(&clusters, one_int_kernel, &config);
      cudaGetLastError();
      const bool refused = size > 8 && allowed == 0;
      if (got != (refused ? cudaErrorInvalidClusterSize : cudaSuccess) ||
          (!refused && (clusters > 0) != (size <= 16)))
        return fail(error, "clusters of %u blocks: %s, %d clusters", size, cudaGetErrorName(got),
                    clusters);
    }
  }
  return true;
}
