#include "device/device.h"

#include <ctype.h>
#include <string.h>

bool device_ok(cudaError_t status, const char *what, error_text *error) {
  if (status == cudaSuccess) return true;
  return fail(error, "%s failed: %s (%s)", what, cudaGetErrorString(status),
              cudaGetErrorName(status));
}

bool device_works(void) {
  cudaGetLastError(); // what one step leaves as the last error is not an error of the next one
  return cudaDeviceSynchronize() == cudaSuccess;
}

// "NVIDIA H200" -> "nvidia-h200"
static void make_slug(const char *name, char *slug, size_t size) {
  size_t length = 0;
  for (; *name && length + 1 < size; name++) {
    if (isalnum((unsigned char)*name)) {
      slug[length++] = (char)tolower((unsigned char)*name);
    } else if (length > 0 && slug[length - 1] != '-') {
      slug[length++] = '-';
    }
  }
  slug[length] = '\0';
}

bool device_open(device_info *info, error_text *error) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    return fail(error,
                "no CUDA GPU can be used (%s): build with DEVICE=cpu to run on the emulator, or "
                "let `make doctor` look at the driver",
                status == cudaSuccess ? "none was found" : cudaGetErrorString(status));
  }
  struct cudaDeviceProp properties;
  if (!device_ok(cudaSetDevice(0), "selecting device 0", error) ||
      !device_ok(cudaGetDeviceProperties(&properties, 0), "reading the GPU's properties", error)) {
    return false;
  }
  snprintf(info->name, sizeof info->name, "%s", properties.name);
  make_slug(info->name, info->slug, sizeof info->slug);
  info->emulated = strncmp(info->name, "Emulated", 8) == 0;
  info->compute_capability = properties.major * 10 + properties.minor;
  info->multiprocessors = properties.multiProcessorCount;
  info->memory_bytes = properties.totalGlobalMem;
  info->l2_bytes = (size_t)properties.l2CacheSize;
  return true;
}
