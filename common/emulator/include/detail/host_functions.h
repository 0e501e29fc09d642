// The runtime API's host functions beyond those of the lab (CUDA Runtime API reference): memory of the host, pitched
// memory, callbacks, limits and hints, and cooperative launches. Included by <cuda_runtime_api.h>. C and C++.
#ifndef EMULATOR_DETAIL_HOST_FUNCTIONS_H
#define EMULATOR_DETAIL_HOST_FUNCTIONS_H

#define CUDART_CB
#ifndef CUDARTAPI
#define CUDARTAPI
#endif

typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

// ---- Memory of the host ------------------------------------------------------------------------

#define cudaHostRegisterDefault  0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped   0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08

EMULATOR_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags);
EMULATOR_API cudaError_t cudaHostUnregister(void *pointer);
EMULATOR_API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
EMULATOR_API cudaError_t cudaHostGetFlags(unsigned int *flags, void *host);

// ---- Rows at a pitch ---------------------------------------------------------------------------

EMULATOR_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width,
                                         size_t height);
EMULATOR_API cudaError_t cudaMemcpy2D(void *destination, size_t destination_pitch,
                                      const void *source, size_t source_pitch, size_t width,
                                      size_t height, enum cudaMemcpyKind kind);
EMULATOR_API cudaError_t cudaMemcpy2DAsync(void *destination, size_t destination_pitch,
                                           const void *source, size_t source_pitch, size_t width,
                                           size_t height, enum cudaMemcpyKind kind,
                                           cudaStream_t stream EMULATOR_DEFAULT(0));
EMULATOR_API cudaError_t cudaMemset2D(void *destination, size_t pitch, int value, size_t width,
                                      size_t height);
EMULATOR_API cudaError_t cudaMemset2DAsync(void *destination, size_t pitch, int value, size_t width,
                                           size_t height, cudaStream_t stream EMULATOR_DEFAULT(0));

// ---- Devices, streams and events -------------------------------------------------------------------

enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};
EMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device);
EMULATOR_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text);
EMULATOR_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                   int from, int to);
EMULATOR_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
EMULATOR_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
EMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                  cudaStream_t stream EMULATOR_DEFAULT(0),
                                                  unsigned int flags EMULATOR_DEFAULT(0));
// The most dynamic shared memory with which a multiprocessor holds that many blocks of the kernel.
EMULATOR_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                                   const void *kernel, int blocks,
                                                                   int block_threads);

// ---- Hints, limits and flags: they are taken, and change nothing --------------------------------

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};
enum cudaComputeMode {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};
#define cudaCpuDeviceId                (-1)
#define cudaInvalidDeviceId            (-2)
#define cudaDeviceScheduleSpin         0x01
#define cudaDeviceScheduleYield        0x02
#define cudaDeviceBlockingSync         0x04
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceMapHost              0x08
#define cudaDeviceLmemResizeToMax      0x10
#define cudaMemAttachSingle            0x04
#define cudaHostAllocWriteCombined     0x04

EMULATOR_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
EMULATOR_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
EMULATOR_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
EMULATOR_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
EMULATOR_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
EMULATOR_API cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config);
EMULATOR_API cudaError_t cudaFuncSetSharedMemConfig(const void *kernel,
                                                    enum cudaSharedMemConfig config);
EMULATOR_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
EMULATOR_API cudaError_t cudaGetDeviceFlags(unsigned int *flags);
#define cudaInitDeviceFlagsAreValid 0x01
EMULATOR_API cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
EMULATOR_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted);
EMULATOR_API cudaError_t cudaProfilerStart(void);
EMULATOR_API cudaError_t cudaProfilerStop(void);
EMULATOR_API cudaError_t cudaCtxResetPersistingL2Cache(void);
EMULATOR_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer,
                                                  size_t bytes EMULATOR_DEFAULT(0),
                                                  unsigned int flags EMULATOR_DEFAULT(0x04));

// Older books have these names, which CUDA 13 no longer has.
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit        cudaDeviceReset

// ---- Pools: their memory is cudaMalloc's ---------------------------------------------------------

typedef struct CUmemPoolHandle_st *cudaMemPool_t;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
EMULATOR_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
EMULATOR_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
EMULATOR_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
EMULATOR_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
EMULATOR_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                 void *value);
EMULATOR_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                 void *value);
EMULATOR_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
EMULATOR_API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                                 cudaStream_t stream);

// ---- Launches and callbacks ---------------------------------------------------------------------

EMULATOR_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
EMULATOR_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                               void *data, unsigned int flags);
// The kernel's address alone does not tell its parameters: the kernel must have been named to the emulator, as
// nvcc-cpu does where a program casts a kernel to void *.
EMULATOR_API cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                                          void **arguments, size_t shared_bytes EMULATOR_DEFAULT(0),
                                          cudaStream_t stream EMULATOR_DEFAULT(0));
// All blocks run at the same time, so that they may wait for each other (this_grid().sync()).
EMULATOR_API cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                                     void **arguments,
                                                     size_t shared_bytes EMULATOR_DEFAULT(0),
                                                     cudaStream_t stream EMULATOR_DEFAULT(0));

// ---- Attributes of streams and launches: those about the L2 cache are hints, and it has none -------

enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void *base_ptr;
  size_t num_bytes;
  float hitRatio;
  enum cudaAccessProperty hitProp, missProp;
};
typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
} cudaLaunchAttributeID;
typedef enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault = 0,
  cudaClusterSchedulingPolicySpread = 1,
  cudaClusterSchedulingPolicyLoadBalancing = 2
} cudaClusterSchedulingPolicy;
typedef union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int syncPolicy;
  struct {
    unsigned int x, y, z;
  } clusterDim;
  cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  int priority;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;
typedef cudaLaunchAttributeID cudaStreamAttrID;
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
#define cudaStreamAttributeAccessPolicyWindow    cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority              cudaLaunchAttributePriority
EMULATOR_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                                const cudaStreamAttrValue *value);

// ---- Launches with attributes, such as clusters -----------------------------------------------------

EMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                             void **arguments);
EMULATOR_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                                        const cudaLaunchConfig_t *config);
// The most blocks that a cluster of the kernel may have.
EMULATOR_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *kernel,
                                                              const cudaLaunchConfig_t *config);

#include "graph_functions.h"

#endif
