#include "cluster_launch.h"

#include "cluster.h"
#include "errors.h"
#include "function.h"
#include "gpu.h"
#include "kernel_form.h"
#include "launch.h"
#include "observer.h"

#include <stdlib.h>

static bool is_cube(dim3 cluster, unsigned side) {
  return cluster.x == side && cluster.y == side && cluster.z == side;
}

// Returns the size that the kernel states, else the one that the launch asks for; 0 x 0 x 0 where neither gives one.
static dim3 asked_for(const emulator_launch_request *request) {
  const dim3 own = function_cluster(request->kernel);
  return is_cube(own, 0) ? request->cluster : own;
}

// A cluster of one block is what each block of an ordinary launch is, on every GPU.
static bool is_ordinary(dim3 cluster) { return is_cube(cluster, 0) || is_cube(cluster, 1); }

static uint64_t blocks_in(dim3 cluster) { return (uint64_t)cluster.x * cluster.y * cluster.z; }

bool cluster_launch_whole_grid(const emulator_launch_request *request) {
  return request->cooperative && observer_workers() == 1 && blocks_in(request->grid) > 1;
}

dim3 cluster_launch_dim(const emulator_launch_request *request) {
  if (cluster_launch_whole_grid(request)) return request->grid;
  const dim3 cluster = asked_for(request);
  return is_ordinary(cluster) ? (dim3){1, 1, 1} : cluster;
}

bool cluster_launch_specified(const emulator_launch_request *request) {
  return !is_cube(asked_for(request), 0);
}

// ---- Refusals -----------------------------------------------------------------------------------

// CUDA 13.0 on an H100 returns cudaErrorInvalidClusterSize for each of these, where the GPU has clusters at all.
static cudaError_t check_size(const emulator_launch_request *request) {
  const dim3 cluster = asked_for(request), grid = request->grid;
  const uint64_t blocks = blocks_in(cluster);
  const cudaError_t error = cudaErrorInvalidClusterSize;
  if (blocks == 0 || blocks > CLUSTER_BLOCKS_MAX) {
    return launch_refuse(request->name, error,
                         "a cluster of %u x %u x %u blocks; it takes 1 to %d, and above %d only if "
                         "cudaFuncSetAttribute allows it",
                         cluster.x, cluster.y, cluster.z, CLUSTER_BLOCKS_MAX,
                         CLUSTER_BLOCKS_PORTABLE);
  }
  if (blocks > CLUSTER_BLOCKS_PORTABLE && !function_large_clusters(request->kernel)) {
    return launch_refuse(request->name, error,
                         "a cluster of %u x %u x %u blocks; more than %d must be allowed first: "
                         "cudaFuncSetAttribute(kernel, "
                         "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
                         cluster.x, cluster.y, cluster.z, CLUSTER_BLOCKS_PORTABLE);
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return launch_refuse(request->name, error,
                         "a grid of %u x %u x %u blocks is no multiple of a cluster of %u x %u x "
                         "%u: make the grid larger, and let the kernel pass over what is too much",
                         grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
  }
  return cudaSuccess;
}

// CUDA's manual says that the two must be the same, but not which error it is if they are not.
static cudaError_t check_match(const emulator_launch_request *request) {
  const dim3 asked = request->cluster, own = function_cluster(request->kernel);
  if (is_cube(own, 0) || is_cube(asked, 0) ||
      (asked.x == own.x && asked.y == own.y && asked.z == own.z))
    return cudaSuccess;
  return launch_refuse(request->name, cudaErrorInvalidClusterSize,
                       "the launch asks for clusters of %u x %u x %u blocks, and the kernel has "
                       "clusters of %u x %u x %u (__cluster_dims__): leave "
                       "cudaLaunchAttributeClusterDimension out, or ask for the same",
                       asked.x, asked.y, asked.z, own.x, own.y, own.z);
}

cudaError_t cluster_launch_check(const emulator_launch_request *request) {
  const cudaError_t match = check_match(request);
  const dim3 cluster = asked_for(request);
  if (match != cudaSuccess || is_ordinary(cluster)) return match;
  const gpu *gpu = gpu_selected();
  if (gpu->major < 9) {
    return launch_refuse(request->name, cudaErrorNotSupported,
                         "the %s has compute capability %d.%d, and clusters came with 9.0: set "
                         "EMU_GPU to h200",
                         gpu->name, gpu->major, gpu->minor);
  }
  const cudaError_t error = check_size(request);
  if (error != cudaSuccess) return error;
  if (request->cooperative && blocks_in(cluster) > 1) {
    return launch_refuse(request->name, cudaErrorNotSupported,
                         "the emulator has no cooperative launches with clusters: launch with one "
                         "of the two");
  }
  return cudaSuccess;
}

// The blocks may wait for each other, so all must have room at the same time.
static cudaError_t check_room(const emulator_launch_request *request) {
  const int threads = (int)blocks_in(request->block);
  const uint64_t held = (uint64_t)function_blocks_per_multiprocessor(request->kernel, threads,
                                                                     request->dynamic_shared_bytes);
  const uint64_t room = held * (uint64_t)gpu_cooperative_multiprocessors();
  const uint64_t blocks = blocks_in(request->grid);
  if (blocks <= room) return cudaSuccess;
  return launch_refuse(request->name, cudaErrorCooperativeLaunchTooLarge,
                       "a cooperative launch of %llu blocks, which must all run at the same time; "
                       "the GPU has room for %llu, %llu in each multiprocessor: launch no more "
                       "than cudaOccupancyMaxActiveBlocksPerMultiprocessor allows",
                       (unsigned long long)blocks, (unsigned long long)room,
                       (unsigned long long)held);
}

cudaError_t cluster_launch_check_cooperative(const emulator_launch_request *request) {
  const cudaError_t room = request->cooperative ? check_room(request) : cudaSuccess;
  if (room != cudaSuccess) return room;
  const uint64_t blocks = blocks_in(request->grid);
  if (!cluster_launch_whole_grid(request) || blocks <= CLUSTER_BLOCKS_MAX) return cudaSuccess;
  return launch_refuse(request->name, cudaErrorNotSupported,
                       "a cooperative launch of %llu blocks; under sanitize its blocks take turns, "
                       "and at most %d can: take a problem with fewer blocks, or run without "
                       "sanitize",
                       (unsigned long long)blocks, CLUSTER_BLOCKS_MAX);
}

// ---- Attributes ---------------------------------------------------------------------------------

static cudaError_t take_attribute(const cudaLaunchAttribute *attribute,
                                  emulator_launch_request *request) {
  switch ((int)attribute->id) {
  case cudaLaunchAttributeIgnore:
  case cudaLaunchAttributeAccessPolicyWindow: // these are hints
  case cudaLaunchAttributeSynchronizationPolicy:
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
  case cudaLaunchAttributePriority: return cudaSuccess;
  case cudaLaunchAttributeCooperative:
    request->cooperative = attribute->val.cooperative != 0;
    return cudaSuccess;
  case cudaLaunchAttributeProgrammaticStreamSerialization:
    request->early = attribute->val.programmaticStreamSerializationAllowed != 0;
    return cudaSuccess;
  case cudaLaunchAttributeClusterDimension:
    request->cluster = (dim3){attribute->val.clusterDim.x, attribute->val.clusterDim.y,
                              attribute->val.clusterDim.z};
    return cudaSuccess;
  }
  return launch_refuse(request->name, cudaErrorInvalidValue,
                       "the emulator has no launch attribute %d: leave it out, or run on a GPU",
                       (int)attribute->id);
}

static cudaError_t take_attributes(const cudaLaunchConfig_t *config,
                                   emulator_launch_request *request) {
  if (config->numAttrs > 0 && config->attrs == NULL) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const cudaError_t error = take_attribute(&config->attrs[i], request);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t emulator_launch_attributes(const cudaLaunchConfig_t *config,
                                       emulator_launch_request *request) {
  return errors_record(take_attributes(config, request));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments) {
  RETURN_IF_STICKY();
  if (config == NULL) return errors_record(cudaErrorInvalidValue);
  emulator_launch_request request = {.grid = config->gridDim,
                                     .block = config->blockDim,
                                     .dynamic_shared_bytes = config->dynamicSmemBytes,
                                     .stream = config->stream};
  cudaError_t error = kernel_form_request(&request, kernel, arguments);
  if (error != cudaSuccess) return error;
  error = emulator_launch_attributes(config, &request);
  if (error == cudaSuccess) error = emulator_launch(&request);
  free(request.arguments);
  return error;
}

// ---- Occupancy ----------------------------------------------------------------------------------

// Of the kernel's blocks with this configuration, by one multiprocessor.
static int blocks_held(const void *kernel, const cudaLaunchConfig_t *config) {
  const dim3 block = config->blockDim;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (threads == 0 || threads > GPU_THREADS_PER_BLOCK) return 0;
  return function_blocks_per_multiprocessor(kernel, (int)threads, config->dynamicSmemBytes);
}

// The blocks of a cluster lie in one of the GPU's parts of some 16 multiprocessors, which differ from chip to chip, so
// a GPU may hold fewer clusters: an H100 has 132 multiprocessors and holds 7 clusters of 16 blocks, not 8, if each
// block takes a whole multiprocessor. At least one cluster can run here.
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                           const cudaLaunchConfig_t *config) {
  RETURN_IF_STICKY();
  if (clusters == NULL || config == NULL) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  emulator_launch_request request = {
      .kernel = kernel, .name = "a kernel", .grid = config->gridDim, .block = config->blockDim};
  cudaError_t error = take_attributes(config, &request);
  const uint64_t blocks = blocks_in(asked_for(&request));
  if (error == cudaSuccess && (blocks <= CLUSTER_BLOCKS_MAX || !function_large_clusters(kernel)))
    error = cluster_launch_check(&request);
  if (error != cudaSuccess) return errors_record(error);
  *clusters = 0;
  if (blocks == 0 || blocks > CLUSTER_BLOCKS_MAX) return cudaSuccess;
  const int held = blocks_held(kernel, config);
  const int all = held * gpu_multiprocessors() / (int)blocks;
  *clusters = held > 0 && all == 0 ? 1 : all;
  return cudaSuccess;
}

// The dimensions of the clusters in the configuration mean nothing here, and on an H100 neither do those that the kernel
// says itself. 0 where no block of that size can run.
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *kernel,
                                                 const cudaLaunchConfig_t *config) {
  RETURN_IF_STICKY();
  if (blocks == NULL || config == NULL) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  const int most = gpu_selected()->major < 9         ? 1
                   : function_large_clusters(kernel) ? CLUSTER_BLOCKS_MAX
                                                     : CLUSTER_BLOCKS_PORTABLE;
  *blocks = blocks_held(kernel, config) == 0 ? 0 : most;
  return cudaSuccess;
}
