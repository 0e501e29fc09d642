// Questions of the host about devices, streams, events and pools, and what it tells a profiler.
#include "feature.h"

#include <cstring>
#include <nvtx3/nvToolsExt.h>

FEATURE(places_of_devices,
        "cudaDeviceGetPCIBusId, cudaDeviceGetByPCIBusId, cudaDeviceGetP2PAttribute, cudaInitDevice",
        "") {
  char id[32];
  int device = -1;
  cudaDeviceProp properties;
  CHECK(cudaInitDevice(0, 0, 0));
  CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  CHECK(cudaDeviceGetByPCIBusId(&device, id));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  unsigned domain, bus, slot, function;
  if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return false;
  if (device != 0 || bus != (unsigned)properties.pciBusID || strlen(id) != 12) return false;
  if (cudaDeviceGetPCIBusId(id, 12, 0) != cudaErrorInvalidValue) return false;
  int can;
  if (cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0) == cudaSuccess)
    return false; // of one device
  cudaGetLastError();
  return true;
}

FEATURE(what_streams_are,
        "cudaStreamGetId, cudaStreamGetPriority, cudaStreamGetFlags, cudaEventRecordWithFlags",
        "") {
  int least, greatest, priority;
  unsigned flags;
  unsigned long long ids[3];
  cudaStream_t plain, urgent;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreate(&plain));
  CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamGetId(nullptr, &ids[0]));
  CHECK(cudaStreamGetId(plain, &ids[1]));
  CHECK(cudaStreamGetId(urgent, &ids[2]));
  CHECK(cudaStreamGetPriority(urgent, &priority));
  CHECK(cudaStreamGetFlags(urgent, &flags));
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecordWithFlags(event, urgent, cudaEventRecordDefault));
  CHECK(cudaEventSynchronize(event));
  return ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2] && priority == greatest &&
         least > greatest && flags == cudaStreamNonBlocking;
}

FEATURE(pools, "cudaMemPoolCreate, cudaDeviceSetMemPool, cudaMallocFromPoolAsync",
        "what a pool's attributes say of the memory in use: 0") {
  cudaMemPoolProps wanted = {};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = 0;
  cudaMemPool_t own, standard, current;
  CHECK(cudaMemPoolCreate(&own, &wanted));
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK(cudaDeviceSetMemPool(0, own));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  if (current != own) return false;
  unsigned long long keep = 1 << 20, kept = 0;
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &kept));
  int *x, seven = 7, back = 0;
  CHECK(cudaMallocFromPoolAsync(&x, sizeof *x, own, 0));
  CHECK(cudaMemcpyAsync(x, &seven, sizeof seven, cudaMemcpyHostToDevice, 0));
  CHECK(cudaMemcpy(&back, x, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(cudaFreeAsync(x, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceSetMemPool(0, standard));
  CHECK(cudaMemPoolDestroy(own));
  return back == 7 && kept == keep;
}

__global__ void with_static_memory(float *x) {
  __shared__ float tile[1000];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

FEATURE(memory_for_some_blocks, "cudaOccupancyAvailableDynamicSMemPerBlock", "") {
  const size_t own = 1000 * sizeof(float);
  size_t bytes = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_static_memory, 8, 32));
  if (bytes != properties.sharedMemPerMultiprocessor / 8 / 128 * 128 - own) return false;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_static_memory, 1, 32));
  if (bytes != properties.sharedMemPerBlock - own) return false;
  // So many blocks do not fit, however little they take.
  return cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_static_memory, 8, 1024) ==
             cudaErrorInvalidValue &&
         cudaGetLastError() == cudaErrorInvalidValue;
}

FEATURE(ranges_for_a_profiler,
        "NVTX: nvtxRangePush, nvtxRangeStartEx, nvtxMark, nvtxEventAttributes_t, domains",
        "nothing is recorded; the functions for wide characters and nvtx3.hpp: an unknown name or "
        "file") {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "a range";
  const int depth = nvtxRangePushEx(&event);
  const nvtxRangeId_t range = nvtxRangeStartEx(&event);
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("a domain");
  nvtxDomainRangePushEx(domain, &event);
  nvtxMark("a mark");
  nvtxDomainRangePop(domain);
  nvtxDomainDestroy(domain);
  nvtxRangeEnd(range);
  nvtxRangePop();
  return depth == 0 || depth == NVTX_NO_PUSH_POP_TRACKING; // with a profiler, or without
}
