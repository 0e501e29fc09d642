// The functions of the driver API (CUDA Driver API reference). Their work is that of the runtime API's functions; they
// differ in that the program names its context and finds its kernels by name. Included by <cuda.h>. C17 and C++17.
//
// Each returns CUDA_SUCCESS, CUDA_ERROR_NOT_INITIALIZED before cuInit, CUDA_ERROR_INVALID_CONTEXT where no context is
// current (and the program has not used the runtime API, which makes one), or the code of what went wrong.
#ifndef EMULATOR_DETAIL_DRIVER_FUNCTIONS_H
#define EMULATOR_DETAIL_DRIVER_FUNCTIONS_H

// ---- The driver, and its devices ------------------------------------------------------------------

EMULATOR_API CUresult cuInit(unsigned int flags);
EMULATOR_API CUresult cuDriverGetVersion(int *version);
// The texts are NULL for a code that CUDA does not have, or that the emulator never returns.
EMULATOR_API CUresult cuGetErrorName(CUresult error, const char **name);
EMULATOR_API CUresult cuGetErrorString(CUresult error, const char **text);
EMULATOR_API CUresult cuDeviceGetCount(int *count);
EMULATOR_API CUresult cuDeviceGet(CUdevice *device, int number);
EMULATOR_API CUresult cuDeviceGetName(char *name, int bytes, CUdevice device);
EMULATOR_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                           CUdevice device);
EMULATOR_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device);
EMULATOR_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
EMULATOR_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);

// ---- Contexts: all contexts of a device share its memory ---------------------------------------------

EMULATOR_API CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                                  CUdevice device);
EMULATOR_API CUresult cuCtxDestroy(CUcontext context);
EMULATOR_API CUresult cuCtxPushCurrent(CUcontext context);
EMULATOR_API CUresult cuCtxPopCurrent(CUcontext *context);
EMULATOR_API CUresult cuCtxSetCurrent(CUcontext context);
EMULATOR_API CUresult cuCtxGetCurrent(CUcontext *context);
EMULATOR_API CUresult cuCtxGetDevice(CUdevice *device);
EMULATOR_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version);
EMULATOR_API CUresult cuCtxSynchronize(void);
EMULATOR_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
EMULATOR_API CUresult cuCtxDisablePeerAccess(CUcontext peer);
EMULATOR_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
EMULATOR_API CUresult cuDevicePrimaryCtxRelease(CUdevice device);
EMULATOR_API CUresult cuDevicePrimaryCtxReset(CUdevice device);

// ---- Modules, which scripts/nvcc-cpu -cubin, -fatbin or -ptx and nvrtc make ---------------------------

// An image of a GPU's machine code, or PTX, is refused with a sentence, and CUDA_ERROR_NO_BINARY_FOR_GPU.
EMULATOR_API CUresult cuModuleLoad(CUmodule *module, const char *path);
EMULATOR_API CUresult cuModuleLoadData(CUmodule *module, const void *image);
EMULATOR_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                                         CUjit_option *options, void **values);
EMULATOR_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
EMULATOR_API CUresult cuModuleUnload(CUmodule module);
// Finds a kernel by its name: as written for extern "C", else as C++ mangles it.
EMULATOR_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
EMULATOR_API CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                                        const char *name);

// A linker of one module.
EMULATOR_API CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values,
                                   CUlinkState *state);
EMULATOR_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data,
                                    size_t bytes, const char *name, unsigned int count,
                                    CUjit_option *options, void **values);
EMULATOR_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                                    unsigned int count, CUjit_option *options, void **values);
EMULATOR_API CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes);
EMULATOR_API CUresult cuLinkDestroy(CUlinkState state);

// ---- Kernels ------------------------------------------------------------------------------------

EMULATOR_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x,
                                     unsigned int block_y, unsigned int block_z,
                                     unsigned int shared_bytes, CUstream stream, void **arguments,
                                     void **extra);
EMULATOR_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                                unsigned int grid_y, unsigned int grid_z,
                                                unsigned int block_x, unsigned int block_y,
                                                unsigned int block_z, unsigned int shared_bytes,
                                                CUstream stream, void **arguments);
EMULATOR_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data);
EMULATOR_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                         int value);
EMULATOR_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                         CUfunction function);
EMULATOR_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
EMULATOR_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                                  int block_threads,
                                                                  size_t shared_bytes);
EMULATOR_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                       CUoccupancyB2DSize bytes_of,
                                                       size_t shared_bytes, int limit);

// ---- Memory -------------------------------------------------------------------------------------

EMULATOR_API CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes);
EMULATOR_API CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes);
EMULATOR_API CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width,
                                      size_t height, unsigned int element_bytes);
EMULATOR_API CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags);
EMULATOR_API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream);
EMULATOR_API CUresult cuMemFree(CUdeviceptr pointer);
EMULATOR_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
EMULATOR_API CUresult cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr pointer);
EMULATOR_API CUresult cuMemAllocHost(void **pointer, size_t bytes);
EMULATOR_API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags);
EMULATOR_API CUresult cuMemFreeHost(void *pointer);
EMULATOR_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host,
                                                unsigned int flags);
EMULATOR_API CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags);
EMULATOR_API CUresult cuMemHostUnregister(void *pointer);

EMULATOR_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
EMULATOR_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes);
EMULATOR_API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes);
EMULATOR_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes);
EMULATOR_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                    CUstream stream);
EMULATOR_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                                        CUstream stream);
EMULATOR_API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
EMULATOR_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                        CUstream stream);
EMULATOR_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy); // without arrays, which textures read
EMULATOR_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream);
// The last three take numbers of elements, and not of bytes.
EMULATOR_API CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count);
EMULATOR_API CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count);
EMULATOR_API CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count);
EMULATOR_API CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count,
                                      CUstream stream);
EMULATOR_API CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count,
                                       CUstream stream);

// ---- Memory and addresses apart from each other: reserve, create, map, allow ------------------------

// Sizes are multiples of the granularity, 2 MiB. A handle may go to another process as a file descriptor.
EMULATOR_API CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                                    CUmemAllocationGranularity_flags option);
EMULATOR_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                                  const CUmemAllocationProp *prop, unsigned long long flags);
EMULATOR_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
EMULATOR_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                             CUmemGenericAllocationHandle handle);
EMULATOR_API CUresult cuMemExportToShareableHandle(void *shareable,
                                                   CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType type,
                                                   unsigned long long flags);
EMULATOR_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                     void *shareable,
                                                     CUmemAllocationHandleType type);
EMULATOR_API CUresult cuMemAddressReserve(CUdeviceptr *start, size_t bytes, size_t alignment,
                                          CUdeviceptr wanted, unsigned long long flags);
EMULATOR_API CUresult cuMemAddressFree(CUdeviceptr start, size_t bytes);
EMULATOR_API CUresult cuMemMap(CUdeviceptr start, size_t bytes, size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags);
EMULATOR_API CUresult cuMemUnmap(CUdeviceptr start, size_t bytes);
EMULATOR_API CUresult cuMemSetAccess(CUdeviceptr start, size_t bytes, const CUmemAccessDesc *access,
                                     size_t count);

// ---- Streams and events -------------------------------------------------------------------------

EMULATOR_API CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
EMULATOR_API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags,
                                                 int priority);
EMULATOR_API CUresult cuStreamDestroy(CUstream stream);
EMULATOR_API CUresult cuStreamSynchronize(CUstream stream);
EMULATOR_API CUresult cuStreamQuery(CUstream stream);
EMULATOR_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
EMULATOR_API CUresult cuEventCreate(CUevent *event, unsigned int flags);
EMULATOR_API CUresult cuEventRecord(CUevent event, CUstream stream);
EMULATOR_API CUresult cuEventSynchronize(CUevent event);
EMULATOR_API CUresult cuEventQuery(CUevent event);
EMULATOR_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
EMULATOR_API CUresult cuEventDestroy(CUevent event);

#endif
