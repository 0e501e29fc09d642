// The devices, as the driver API describes them.
#include "context.h"

#include <stdio.h>

CUresult cuDriverGetVersion(int *version) { return CALL_RUNTIME(cudaDriverGetVersion(version)); }

#define IN_DRIVER(call)                                                                            \
  (context_driver_ready() != CUDA_SUCCESS ? context_driver_ready() : CALL_RUNTIME(call))

CUresult cuDeviceGetCount(int *count) { return IN_DRIVER(cudaGetDeviceCount(count)); }

CUresult cuDeviceGet(CUdevice *device, int number) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (number < 0 || number >= devices_count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = number;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
  if (name == NULL || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  struct cudaDeviceProp properties;
  const CUresult result = IN_DRIVER(cudaGetDeviceProperties(&properties, device));
  if (result == CUDA_SUCCESS) snprintf(name, (size_t)bytes, "%s", properties.name);
  return result;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) { // those that only the driver API has
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= devices_count()) return CUDA_ERROR_INVALID_DEVICE;
    *value = 1;
    return context_driver_ready();
  default: break;
  }
  return IN_DRIVER(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  if (bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
  struct cudaDeviceProp properties;
  const CUresult result = IN_DRIVER(cudaGetDeviceProperties(&properties, device));
  if (result == CUDA_SUCCESS) *bytes = properties.totalGlobalMem;
  return result;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  const CUresult result =
      cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result != CUDA_SUCCESS) return result;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return IN_DRIVER(cudaDeviceCanAccessPeer(can, device, peer));
}
