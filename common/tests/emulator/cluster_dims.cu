// Tests kernels that say the size of their clusters themselves, and the functions on clusters below cooperative groups.
#include "clusters.h"

#include <vector>

// GPUs without clusters compile empty kernels, and do not run them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#undef __cluster_dims__
#define __cluster_dims__(...)
#define WITH_CLUSTERS(...)
#else
#define WITH_CLUSTERS(...) __VA_ARGS__
#endif

static __device__ void write_size(dim3 *sizes) {
  WITH_CLUSTERS({
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x == 0) sizes[block] = cg::this_cluster().dim_blocks();
  });
}

// ---- Ways to write it ---------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) three_sides_kernel(dim3 *sizes) { write_size(sizes); }
static __global__ void __cluster_dims__(4) one_side_kernel(dim3 *sizes) { write_size(sizes); }
__cluster_dims__(2, 2) __global__ void in_front_kernel(dim3 *sizes) { write_size(sizes); }
__global__ void __launch_bounds__(64) __cluster_dims__(1, 2, 2) behind_bounds_kernel(dim3 *sizes) {
  write_size(sizes);
}
__global__ void __cluster_dims__(1, 1, 4) __launch_bounds__(64, 1)
    before_bounds_kernel(dim3 *sizes) {
  write_size(sizes);
}
extern "C" __global__ void __cluster_dims__(3) c_kernel(dim3 *sizes) { write_size(sizes); }

__global__ void __cluster_dims__(2, 3) declared_kernel(dim3 *sizes);
__global__ void __cluster_dims__(2, 3) declared_kernel(dim3 *sizes) { write_size(sizes); }

__global__ void __cluster_dims__(2, 4) only_declared_kernel(dim3 *sizes);
__global__ void only_declared_kernel(dim3 *sizes) { write_size(sizes); }

// Two kernels of one name.
__global__ void __cluster_dims__(2) overloaded_kernel(dim3 *sizes) { write_size(sizes); }
__global__ void overloaded_kernel(dim3 *, int) {}

namespace {
enum { SIDE = 2 };
template <unsigned X, typename T>
__global__ void __cluster_dims__(X, sizeof(T) / 4, (X > 2 ? 1 : SIDE))
    template_kernel(dim3 *sizes) {
  write_size(sizes);
}
} // namespace

static bool has_size(error_text *error, const char *name, void (*kernel)(dim3 *), dim3 right) {
  const dim3 grid(12, 12, 4);
  device_array<dim3> sizes(grid.x * grid.y * grid.z);
  kernel<<<grid, 64>>>(sizes.data());
  if (!device_finished(error, name)) return false;
  for (const dim3 &got : sizes.host())
    if (got.x != right.x || got.y != right.y || got.z != right.z)
      return fail(error, "%s has clusters of %u x %u x %u blocks, not %u x %u x %u", name, got.x,
                  got.y, got.z, right.x, right.y, right.z);
  return true;
}

bool cluster_dims_forms(error_text *error) {
  if (!device_has_clusters()) return true;
  return has_size(error, "three_sides_kernel", three_sides_kernel, dim3(2, 1, 1)) &&
         has_size(error, "one_side_kernel", one_side_kernel, dim3(4, 1, 1)) &&
         has_size(error, "in_front_kernel", in_front_kernel, dim3(2, 2, 1)) &&
         has_size(error, "behind_bounds_kernel", behind_bounds_kernel, dim3(1, 2, 2)) &&
         has_size(error, "before_bounds_kernel", before_bounds_kernel, dim3(1, 1, 4)) &&
         has_size(error, "c_kernel", c_kernel, dim3(3, 1, 1)) &&
         has_size(error, "declared_kernel", declared_kernel, dim3(2, 3, 1)) &&
         has_size(error, "only_declared_kernel", only_declared_kernel, dim3(2, 4, 1)) &&
         has_size(error, "overloaded_kernel", overloaded_kernel, dim3(2, 1, 1)) &&
         has_size(error, "template_kernel<2, float>", template_kernel<2, float>, dim3(2, 1, 2)) &&
         has_size(error, "template_kernel<3, double>", template_kernel<3, double>, dim3(3, 2, 1));
}

// ---- What the host asks -------------------------------------------------------------------------

static bool expect_error(error_text *error, const char *what, cudaError_t got, cudaError_t right) {
  const cudaError_t last = cudaGetLastError();
  if (got == right && last == right) return true;
  return fail(error, "%s gives %s and then %s, not %s", what, cudaGetErrorName(got),
              cudaGetErrorName(last), cudaGetErrorName(right));
}

__global__ void __cluster_dims__(2, 2) square_kernel(int *out) {
  if (threadIdx.x == 0) atomicAdd(out, 1);
}
__global__ void __cluster_dims__(16) large_kernel(int *out) {
  if (threadIdx.x == 0) atomicAdd(out, 1);
}
__global__ void free_kernel(int *out) {
  if (threadIdx.x == 0) atomicAdd(out, 1);
}

template <typename Kernel>
static cudaError_t launch(Kernel kernel, dim3 grid, int *out) {
  kernel<<<grid, 32>>>(out);
  return cudaPeekAtLastError();
}

static cudaLaunchConfig_t configuration(cudaLaunchAttribute *attribute, dim3 cluster) {
  attribute->id = cudaLaunchAttributeClusterDimension;
  attribute->val.clusterDim.x = cluster.x;
  attribute->val.clusterDim.y = cluster.y;
  attribute->val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4, 4);
  config.blockDim = 32;
  config.attrs = attribute;
  config.numAttrs = 1;
  return config;
}

bool cluster_dims_refused(error_text *error) {
  if (!device_has_clusters()) return true;
  device_array<int> out(1);
  const cudaError_t size = cudaErrorInvalidClusterSize;
  const auto with = [&](dim3 cluster) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = configuration(&attribute, cluster);
    return cudaLaunchKernelEx(&config, square_kernel, out.data());
  };
  if (!expect_error(error, "a multiple", launch(square_kernel, dim3(4, 2), out.data()),
                    cudaSuccess) ||
      !expect_error(error, "3 x 2 blocks", launch(square_kernel, dim3(3, 2), out.data()), size) ||
      !expect_error(error, "4 blocks in a row", launch(square_kernel, 4, out.data()), size) ||
      !expect_error(error, "16 blocks", launch(large_kernel, 16, out.data()), size) ||
      !expect_error(error, "the same size", with(dim3(2, 2)), cudaSuccess) ||
      !expect_error(error, "a larger size", with(dim3(4, 2)), size) ||
      !expect_error(error, "another size", with(dim3(4, 1)), size) ||
      !expect_error(error, "another depth", with(dim3(2, 2, 2)), size))
    return false;
  cudaFuncSetAttribute(large_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (!expect_error(error, "16 blocks, allowed", launch(large_kernel, 16, out.data()), cudaSuccess))
    return false;
  if (!device_finished(error, "square_kernel")) return false;
  const int blocks = out.host()[0];
  return blocks == 8 + 16 + 16 || fail(error, "%d blocks have run, not 40", blocks);
}

bool cluster_dims_attributes(error_text *error) {
  if (!device_has_clusters()) return true;
  cudaFuncAttributes has, free;
  const cudaFuncAttribute width = cudaFuncAttributeRequiredClusterWidth,
                          height = cudaFuncAttributeRequiredClusterHeight,
                          depth = cudaFuncAttributeRequiredClusterDepth;
  if (cudaFuncGetAttributes(&has, square_kernel) != cudaSuccess ||
      cudaFuncGetAttributes(&free, free_kernel) != cudaSuccess)
    return fail(error, "the attributes of a kernel cannot be read");
  if (has.requiredClusterWidth != 2 || has.requiredClusterHeight != 2 ||
      has.requiredClusterDepth != 1 || free.requiredClusterWidth != 0)
    return fail(error, "the attributes say %d x %d x %d, and %d of a kernel without",
                has.requiredClusterWidth, has.requiredClusterHeight, has.requiredClusterDepth,
                free.requiredClusterWidth);
  if (!expect_error(error, "another width", cudaFuncSetAttribute(square_kernel, width, 4),
                    cudaErrorInvalidValue))
    return false;
  device_array<int> out(1);
  cudaFuncSetAttribute(free_kernel, width, 2);
  cudaFuncSetAttribute(free_kernel, height, 1);
  cudaFuncSetAttribute(free_kernel, depth, 1);
  const bool right =
      expect_error(error, "3 blocks in clusters of 2", launch(free_kernel, 3, out.data()),
                   cudaErrorInvalidClusterSize) &&
      expect_error(error, "4 blocks in clusters of 2", launch(free_kernel, 4, out.data()),
                   cudaSuccess);
  for (const cudaFuncAttribute side : {width, height, depth})
    cudaFuncSetAttribute(free_kernel, side, 0);
  return right && device_finished(error, "free_kernel");
}

bool cluster_dims_occupancy(error_text *error) {
  if (!device_has_clusters()) return true;
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = configuration(&attribute, dim3(2, 2));
  const auto most = [&](void (*kernel)(int *)) {
    int blocks = -1;
    const cudaError_t got = cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config);
    return got == cudaSuccess ? blocks : -2;
  };
  int clusters = 0;
  const cudaError_t same = cudaOccupancyMaxActiveClusters(&clusters, square_kernel, &config);
  config.numAttrs = 0;
  int again = 0;
  const cudaError_t without = cudaOccupancyMaxActiveClusters(&again, square_kernel, &config);
  if (same != cudaSuccess || without != cudaSuccess || clusters <= 0 || clusters != again)
    return fail(error, "%d and %d clusters, with %s and %s", clusters, again,
                cudaGetErrorName(same), cudaGetErrorName(without));
  const int fixed = most(square_kernel), portable = most(free_kernel);
  cudaFuncSetAttribute(free_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const int large = most(free_kernel);
  cudaFuncSetAttribute(free_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 0);
  return (fixed == 8 && portable == 8 && large >= 8 && large <= 16) ||
         fail(error, "the largest clusters have %d, %d and %d blocks, not 8, 8 and up to 16", fixed,
              portable, large);
}

// ---- The functions below cooperative groups -----------------------------------------------------

struct cluster_view {
  dim3 index, dim, place, clusters;
  unsigned rank, size, specified, own_rank, next_rank, kinds;
};

__device__ void look(cluster_view *views) {
  WITH_CLUSTERS({
    __shared__ int own;
    int in_thread = 0;
    const unsigned next = (__clusterRelativeBlockRank() + 1) % __clusterSizeInBlocks();
    const void *other = __cluster_map_shared_rank(&own, next);
    if (threadIdx.x == 0) {
      own = in_thread;
      cluster_view *view = &views[blockIdx.x + gridDim.x * blockIdx.y];
      view->index = __clusterIdx();
      view->dim = __clusterDim();
      view->place = __clusterRelativeBlockIdx();
      view->clusters = __clusterGridDimInClusters();
      view->rank = __clusterRelativeBlockRank();
      view->size = __clusterSizeInBlocks();
      view->specified = __clusterDimIsSpecified();
      view->own_rank = __cluster_query_shared_rank(&own);
      view->next_rank = __cluster_query_shared_rank(other);
      view->kinds = (__isCtaShared(&own) != 0) + 2 * (__isClusterShared(&own) != 0) +
                    4 * (__isClusterShared(other) != 0) + 8 * (__isCtaShared(views) != 0) +
                    16 * (__isClusterShared(views) != 0) +
                    32 * (__isClusterShared(&in_thread) != 0);
    }
  });
}
__global__ void __cluster_dims__(3, 2) look_kernel(cluster_view *views) { look(views); }
__global__ void look_alone_kernel(cluster_view *views) { look(views); }

static bool check_views(error_text *error, const char *kernel,
                        const device_array<cluster_view> &views, dim3 grid, dim3 cluster) {
  if (!device_finished(error, kernel)) return false;
  const std::vector<cluster_view> got = views.host();
  const unsigned size = cluster.x * cluster.y;
  for (unsigned i = 0; i < got.size(); i++) {
    const cluster_view &v = got[i];
    const unsigned x = i % grid.x, y = i / grid.x;
    const unsigned rank = x % cluster.x + cluster.x * (y % cluster.y);
    if (v.index.x != x / cluster.x || v.index.y != y / cluster.y || v.index.z != 0 ||
        v.dim.x != cluster.x || v.dim.y != cluster.y || v.dim.z != 1 ||
        v.place.x != x % cluster.x || v.place.y != y % cluster.y || v.place.z != 0 ||
        v.clusters.x != grid.x / cluster.x || v.clusters.y != grid.y / cluster.y ||
        v.clusters.z != 1 || v.rank != rank || v.size != size || v.own_rank != rank ||
        v.next_rank != (rank + 1) % size || v.specified != (size > 1) || v.kinds != 7)
      return fail(error,
                  "%s: block (%u,%u) sees itself as block %u of %u of cluster (%u,%u), the next "
                  "one as %u, and the kinds of pointers 0x%x",
                  kernel, x, y, v.rank, v.size, v.index.x, v.index.y, v.next_rank, v.kinds);
  }
  return true;
}

bool cluster_dims_views(error_text *error) {
  if (!device_has_clusters()) return true;
  const dim3 grid(9, 4);
  device_array<cluster_view> views(grid.x * grid.y);
  look_kernel<<<grid, 32>>>(views.data());
  if (!check_views(error, "look_kernel", views, grid, dim3(3, 2))) return false;
  look_alone_kernel<<<grid, 32>>>(views.data());
  return check_views(error, "look_alone_kernel", views, grid, dim3(1, 1));
}

// Each block passes its number on to the next one of the cluster. The first barrier only waits for the beginning of all
// blocks, and the last one for the end of all accesses.
__global__ void __cluster_dims__(4) pass_on_kernel(int *out) {
  WITH_CLUSTERS({
    __shared__ int inbox[64];
    const unsigned next = (__clusterRelativeBlockRank() + 1) % __clusterSizeInBlocks();
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    int *there = static_cast<int *>(__cluster_map_shared_rank(inbox, next));
    there[threadIdx.x] = int(blockIdx.x * blockDim.x + threadIdx.x);
    __threadfence_cluster();
    __cluster_barrier_arrive_relaxed();
    __cluster_barrier_wait();
    out[blockIdx.x * blockDim.x + threadIdx.x] = inbox[threadIdx.x];
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  });
}

bool cluster_dims_barrier(error_text *error) {
  if (!device_has_clusters()) return true;
  device_array<int> out(12 * 64);
  pass_on_kernel<<<12, 64>>>(out.data());
  if (!device_finished(error, "pass_on_kernel")) return false;
  const std::vector<int> got = out.host();
  for (unsigned i = 0; i < got.size(); i++) {
    const unsigned block = i / 64, from = block / 4 * 4 + (block + 3) % 4;
    if (got[i] != int(from * 64 + i % 64))
      return fail(error, "thread %u of block %u got %d", i % 64, block, got[i]);
  }
  return true;
}
