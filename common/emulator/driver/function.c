// Launches and attributes of the kernels of modules.
#include "context.h"
#include "errors.h"
#include "kernel_form.h"
#include "module.h"
#include "runtime/plural.h"

#include <stdio.h>

enum { ARGUMENTS_MAX = 512 };

// Takes a kernel's arguments from one buffer, in which each lies at a multiple of its alignment.
static CUresult unpack(const emulator_kernel_form *form, void **extra, void **arguments) {
  char *buffer = NULL;
  const size_t *size = NULL;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = extra[1];
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (buffer == NULL || size == NULL) return CUDA_ERROR_INVALID_VALUE;
  size_t end = 0;
  for (size_t i = 0; i < form->parameter_count; i++) {
    const emulator_parameter *parameter = &form->parameters[i];
    end = (end + parameter->alignment - 1) / parameter->alignment * parameter->alignment;
    arguments[i] = buffer + end;
    end += parameter->bytes;
  }
  if (end <= *size) return CUDA_SUCCESS;
  fprintf(stderr,
          "========= cuLaunchKernel: the parameters of %s have %zu byte%s, and "
          "CU_LAUNCH_PARAM_BUFFER_SIZE says %zu\n",
          form->name, end, plural(end), *size);
  return CUDA_ERROR_INVALID_VALUE;
}

// A GPU tells of a kernel's fault only when the program waits for it, and here too programs expect it there.
static CUresult launched(CUresult result) {
  return result != CUDA_SUCCESS && (cudaError_t)result == errors_sticky() ? CUDA_SUCCESS : result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **arguments, void **extra) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (errors_sticky() != cudaSuccess) return (CUresult)errors_sticky();
  const void *kernel = module_kernel(function);
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  const emulator_kernel_form *form = kernel_form_of(kernel);
  if (form == NULL || form->parameter_count > ARGUMENTS_MAX) return CUDA_ERROR_NOT_SUPPORTED;
  const bool packed = extra != NULL && *extra != CU_LAUNCH_PARAM_END;
  if ((packed && arguments != NULL) || (!packed && arguments == NULL && form->parameter_count > 0))
    return CUDA_ERROR_INVALID_VALUE;
  void *own[ARGUMENTS_MAX];
  if (packed) {
    const CUresult result = unpack(form, extra, own);
    if (result != CUDA_SUCCESS) return result;
    arguments = own;
  }
  return launched(CALL_RUNTIME(cudaLaunchKernel(kernel, (dim3){grid_x, grid_y, grid_z},
                                                (dim3){block_x, block_y, block_z}, arguments,
                                                shared_bytes, stream)));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void **arguments) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  if (errors_sticky() != cudaSuccess) return (CUresult)errors_sticky();
  const void *kernel = module_kernel(function);
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return launched(CALL_RUNTIME(cudaLaunchCooperativeKernel(kernel, (dim3){grid_x, grid_y, grid_z},
                                                           (dim3){block_x, block_y, block_z},
                                                           arguments, shared_bytes, stream)));
}

// ---- Attributes ---------------------------------------------------------------------------------

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const void *kernel = module_kernel(function);
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return IN_CONTEXT(cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute)attribute, value));
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  const void *kernel = module_kernel(function);
  if (value == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  struct cudaFuncAttributes all;
  const CUresult result = IN_CONTEXT(cudaFuncGetAttributes(&all, kernel));
  if (result != CUDA_SUCCESS) return result;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)all.sharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)all.constSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)all.localSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = all.maxDynamicSharedSizeBytes;
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = all.preferredShmemCarveout;
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = all.requiredClusterWidth; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = all.requiredClusterHeight; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = all.requiredClusterDepth; break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *value = all.nonPortableClusterSizeAllowed;
    break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  const void *kernel = module_kernel(function);
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return IN_CONTEXT(cudaFuncSetCacheConfig(kernel, (enum cudaFuncCache)config));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_threads, size_t shared_bytes) {
  const void *kernel = module_kernel(function);
  if (kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return IN_CONTEXT(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_threads, shared_bytes));
}

// The block of the most threads of which a multiprocessor holds as many threads as it can.
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize bytes_of, size_t shared_bytes,
                                          int limit) {
  struct cudaDeviceProp gpu;
  if (grid == NULL || block == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = IN_CONTEXT(cudaGetDeviceProperties(&gpu, devices_current()));
  if (result != CUDA_SUCCESS) return result;
  const int most = limit > 0 && limit < gpu.maxThreadsPerBlock ? limit : gpu.maxThreadsPerBlock;
  int best = 0;
  *grid = *block = 0;
  for (int threads = most; threads > 0; threads -= threads % 32 > 0 ? threads % 32 : 32) {
    int blocks = 0;
    const size_t bytes = bytes_of != NULL ? bytes_of(threads) : shared_bytes;
    result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, bytes);
    if (result != CUDA_SUCCESS) return result;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * gpu.multiProcessorCount;
  }
  return CUDA_SUCCESS;
}
