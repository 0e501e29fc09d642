// Where devices are: their places on the PCI bus, and what lies between two of them.
#include "devices.h"
#include "emulator.h"
#include "errors.h"

#include <stdio.h>

// As in "0000:01:00.0", in hexadecimal: domain, bus, device and function.
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
  RETURN_IF_STICKY();
  if (device < 0 || device >= devices_count()) return errors_record(cudaErrorInvalidDevice);
  char whole[32];
  const int length = snprintf(whole, sizeof whole, "0000:%02X:00.0", (unsigned)devices_bus(device));
  if (text == NULL || bytes <= length) return errors_record(cudaErrorInvalidValue);
  snprintf(text, (size_t)bytes, "%s", whole);
  return cudaSuccess;
}

// The domain, the function, or both may be left out.
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
  RETURN_IF_STICKY();
  if (device == NULL || text == NULL) return errors_record(cudaErrorInvalidValue);
  unsigned domain, bus, slot, function = 0;
  if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2)
      return errors_record(cudaErrorInvalidValue);
  }
  for (int i = 0; i < devices_count(); i++) {
    if (domain != 0 || slot != 0 || function != 0 || bus != (unsigned)devices_bus(i)) continue;
    *device = i;
    return cudaSuccess;
  }
  return errors_record(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to) {
  if (value == NULL) return errors_record(cudaErrorInvalidValue);
  if (from == to) return errors_record(cudaErrorInvalidDevice);
  int can;
  const cudaError_t error = cudaDeviceCanAccessPeer(&can, from, to);
  if (error != cudaSuccess) return error;
  switch (attribute) {
  case cudaDevP2PAttrPerformanceRank: *value = 0; return cudaSuccess; // all links are the same
  case cudaDevP2PAttrAccessSupported:
  case cudaDevP2PAttrNativeAtomicSupported: *value = can; return cudaSuccess;
  case cudaDevP2PAttrCudaArrayAccessSupported:
    *value = 0;
    return cudaSuccess; // there are no arrays
  }
  return errors_record(cudaErrorInvalidValue);
}
