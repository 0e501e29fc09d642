// A device: its properties and life. All devices are the same GPU.
#include "devices.h"
#include "emulator.h"
#include "environment.h"
#include "errors.h"
#include "gpu.h"
#include "graph.h"
#include "memory.h"
#include "observer.h"
#include "queue.h"

#include <limits.h>
#include <stdio.h>

int emulator_grid_limit(void) {
  return (int)environment_number("EMU_GRID_LIMIT", GPU_GRID_DIM_YZ, 1, GPU_GRID_DIM_YZ);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  RETURN_IF_STICKY();
  if (properties == NULL) return errors_record(cudaErrorInvalidValue);
  if (device < 0 || device >= devices_count()) return errors_record(cudaErrorInvalidDevice);
  const gpu *gpu = gpu_selected();
  *properties = (struct cudaDeviceProp){
      .totalGlobalMem = gpu->memory_bytes,
      .sharedMemPerBlock = (size_t)gpu->shared_per_block,
      .regsPerBlock = GPU_REGISTERS,
      .warpSize = GPU_WARP_LANES,
      .maxThreadsPerBlock = GPU_THREADS_PER_BLOCK,
      .maxThreadsDim = {GPU_THREADS_PER_BLOCK, GPU_THREADS_PER_BLOCK, GPU_BLOCK_DIM_Z},
      .maxGridSize = {GPU_GRID_DIM_X, emulator_grid_limit(), emulator_grid_limit()},
      .totalConstMem = GPU_CONSTANT_BYTES,
      .major = gpu->major,
      .minor = gpu->minor,
      .multiProcessorCount = gpu_multiprocessors(),
      .unifiedAddressing = 1,
      .pciBusID = devices_bus(device),
      .memoryBusWidth = gpu->memory_bus_bits,
      .l2CacheSize = gpu_l2_bytes(),
      .maxThreadsPerMultiProcessor = gpu->threads_per_multiprocessor,
      .sharedMemPerMultiprocessor = (size_t)gpu->shared_per_multiprocessor,
      .regsPerMultiprocessor = GPU_REGISTERS,
      .managedMemory = 1,
      .sharedMemPerBlockOptin = (size_t)gpu->shared_per_block_opt_in,
      .maxBlocksPerMultiProcessor = gpu->blocks_per_multiprocessor,
      .reservedSharedMemPerBlock = (size_t)gpu->shared_reserved,
      .cooperativeLaunch = 1,
      .clusterLaunch = gpu->major >= 9,
      .canMapHostMemory = 1,
      .asyncEngineCount = 3,
      .deviceOverlap = 1,
      .clockRate = gpu->clock_khz,
      .memoryClockRate = gpu->memory_clock_khz,
      .streamPrioritiesSupported = 1,
      .globalL1CacheSupported = 1,
      .localL1CacheSupported = 1,
      .concurrentManagedAccess = 1,
      .canUseHostPointerForRegisteredMem = 1,
      .memoryPoolsSupported = 1,
      .hostRegisterSupported = 1,
      .memPitch = INT_MAX,
      .textureAlignment = 512};
  snprintf(properties->name, sizeof properties->name, "%s", gpu->name);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  RETURN_IF_STICKY();
  if (value == NULL) return errors_record(cudaErrorInvalidValue);
  if (device < 0 || device >= devices_count()) return errors_record(cudaErrorInvalidDevice);
  const gpu *gpu = gpu_selected();
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock: *value = GPU_THREADS_PER_BLOCK; break;
  case cudaDevAttrMaxBlockDimX: *value = GPU_THREADS_PER_BLOCK; break;
  case cudaDevAttrMaxBlockDimY: *value = GPU_THREADS_PER_BLOCK; break;
  case cudaDevAttrMaxBlockDimZ: *value = GPU_BLOCK_DIM_Z; break;
  case cudaDevAttrMaxGridDimX: *value = GPU_GRID_DIM_X; break;
  case cudaDevAttrMaxGridDimY: *value = emulator_grid_limit(); break;
  case cudaDevAttrMaxGridDimZ: *value = emulator_grid_limit(); break;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = gpu->shared_per_block; break;
  case cudaDevAttrTotalConstantMemory: *value = GPU_CONSTANT_BYTES; break;
  case cudaDevAttrWarpSize: *value = GPU_WARP_LANES; break;
  case cudaDevAttrMaxRegistersPerBlock: *value = GPU_REGISTERS; break;
  case cudaDevAttrClockRate: *value = gpu->clock_khz; break;
  case cudaDevAttrMultiProcessorCount: *value = gpu_multiprocessors(); break;
  case cudaDevAttrIntegrated: *value = 0; break;
  case cudaDevAttrConcurrentKernels: *value = 0; break;
  case cudaDevAttrEccEnabled: *value = 0; break;
  case cudaDevAttrMemoryClockRate: *value = gpu->memory_clock_khz; break;
  case cudaDevAttrGlobalMemoryBusWidth: *value = gpu->memory_bus_bits; break;
  case cudaDevAttrL2CacheSize: *value = gpu_l2_bytes(); break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = gpu->threads_per_multiprocessor; break;
  case cudaDevAttrUnifiedAddressing: *value = 1; break;
  case cudaDevAttrComputeCapabilityMajor: *value = gpu->major; break;
  case cudaDevAttrComputeCapabilityMinor: *value = gpu->minor; break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = gpu->shared_per_multiprocessor; break;
  case cudaDevAttrMaxRegistersPerMultiprocessor: *value = GPU_REGISTERS; break;
  case cudaDevAttrManagedMemory: *value = 1; break;
  case cudaDevAttrCooperativeLaunch: *value = 1; break;
  case cudaDevAttrClusterLaunch: *value = gpu->major >= 9; break;
  case cudaDevAttrMaxPitch: *value = INT_MAX; break;
  case cudaDevAttrTextureAlignment: *value = 512; break;
  case cudaDevAttrGpuOverlap: *value = 1; break;
  case cudaDevAttrKernelExecTimeout: *value = 0; break;
  case cudaDevAttrCanMapHostMemory: *value = 1; break;
  case cudaDevAttrComputeMode: *value = cudaComputeModeDefault; break;
  case cudaDevAttrPciBusId: *value = devices_bus(device); break;
  case cudaDevAttrPciDeviceId: *value = 0; break;
  case cudaDevAttrAsyncEngineCount: *value = 3; break;
  case cudaDevAttrStreamPrioritiesSupported: *value = 1; break;
  case cudaDevAttrHostNativeAtomicSupported: *value = 0; break;
  case cudaDevAttrPageableMemoryAccess: *value = 0; break;
  case cudaDevAttrConcurrentManagedAccess: *value = 1; break;
  case cudaDevAttrComputePreemptionSupported: *value = 1; break;
  case cudaDevAttrHostRegisterSupported: *value = 1; break;
  case cudaDevAttrMemoryPoolSupportedHandleTypes: *value = 0; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = gpu->shared_per_block_opt_in; break;
  case cudaDevAttrMaxBlocksPerMultiprocessor: *value = gpu->blocks_per_multiprocessor; break;
  case cudaDevAttrReservedSharedMemoryPerBlock: *value = gpu->shared_reserved; break;
  case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
  default: return errors_record(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  if (emulator_current != NULL) {
    emulator_fault(
        cudaErrorNotSupported,
        "cudaDeviceSynchronize() inside a kernel: CUDA 12 has taken it away; the host, or "
        "a kernel launched later, can use what the launched kernels write");
  }
  const cudaError_t refused = graph_refuses_wait_for_all();
  if (refused != cudaSuccess) return refused;
  if (devices_several()) queue_wait_device(devices_current());
  observer_launches_apart();
  return errors_record(errors_sticky());
}

cudaError_t cudaDeviceReset(void) {
  const int device = devices_current();
  queue_lock();
  queue_drop_device(device);
  queue_unlock();
  memory_reset(device);
  devices_forget_peers(device);
  observer_launches_apart();
  errors_reset();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  if (version == NULL) return errors_record(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
