// The functions of the driver that a program asks for by name at run time, and those of them that are not about tensor
// maps.
#include "errors.h"

#include <cuda.h>
#include <stdint.h>
#include <string.h>

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_NOT_SUPPORTED; // without the fence
  if (address % sizeof value != 0) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = cudaMemcpyAsync((void *)(uintptr_t)address, &value, sizeof value,
                                            cudaMemcpyHostToDevice, stream);
  return error == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

typedef void any_function(void);

static const struct {
  const char *name;
  any_function *function;
  unsigned since; // the version from which on it is there
} functions[] = {
    {"cuTensorMapEncodeTiled", (any_function *)cuTensorMapEncodeTiled, 12000},
    {"cuStreamWriteValue32", (any_function *)cuStreamWriteValue32, 11070},
};

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
  RETURN_IF_STICKY();
  if (symbol == NULL || function == NULL || flags != cudaEnableDefault)
    return errors_record(cudaErrorInvalidValue);
  *function = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(symbol, functions[i].name) != 0) continue;
    found = version < functions[i].since ? cudaDriverEntryPointVersionNotSufficent
                                         : cudaDriverEntryPointSuccess;
    if (found == cudaDriverEntryPointSuccess)
      memcpy(function, &functions[i].function, sizeof *function);
  }
  if (result != NULL) *result = found;
  return cudaSuccess;
}
