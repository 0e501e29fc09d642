// The runtime API's C++ overloads, which take typed pointers, kernels and variables.
#ifndef EMULATOR_DETAIL_HOST_OVERLOADS_H
#define EMULATOR_DETAIL_HOST_OVERLOADS_H

#include "launcher.h"

#include <new>
#include <tuple>
#include <utility>

template <typename T>
cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
template <typename T>
cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void **>(pointer), bytes, stream);
}
template <typename T>
cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void **>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

// ---- Variables ----------------------------------------------------------------------------------

namespace emulator {
// A variable of the device may be volatile, too.
template <typename T>
const void *symbol_place(const T &symbol) {
  return const_cast<const void *>(static_cast<const volatile void *>(&symbol));
}
} // namespace emulator

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  const bool fits = offset <= sizeof(T) && bytes <= sizeof(T) - offset;
  return fits ? cudaMemcpyToSymbol(emulator::symbol_place(symbol), source, bytes, offset, kind)
              : emulator_refuse_symbol(bytes, offset, sizeof(T));
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *destination, const T &symbol, size_t bytes,
                                 size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  const bool fits = offset <= sizeof(T) && bytes <= sizeof(T) - offset;
  return fits ? cudaMemcpyFromSymbol(destination, emulator::symbol_place(symbol), bytes, offset,
                                     kind)
              : emulator_refuse_symbol(bytes, offset, sizeof(T));
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
  return emulator_symbol_address(pointer, emulator::symbol_place(symbol), sizeof(T));
}
template <typename T>
cudaError_t cudaGetSymbolSize(size_t *bytes, const T &) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

// ---- Kernels ------------------------------------------------------------------------------------

template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(Parameters...)) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename... Parameters>
cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(Parameters...),
                                              int block_threads, size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void *>(kernel), block_threads, dynamic_shared_bytes);
}

namespace emulator {

// What cudaLaunchKernel and graphs need to know of a kernel that is named by its address alone.
template <typename... Parameters>
struct form_of {
  struct call {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_cv_t<Parameters>...> arguments;
  };
  template <size_t... index>
  static void make(void *packed, void (*kernel)(Parameters...), void **arguments,
                   std::index_sequence<index...>) {
    new (packed)
        call{kernel, std::tuple<std::remove_cv_t<Parameters>...>(
                         *static_cast<std::remove_cv_t<std::remove_reference_t<Parameters>> *>(
                             arguments[index])...)};
    (void)arguments;
  }
  static void pack(void *packed, const void *kernel, void **arguments) {
    make(packed, reinterpret_cast<void (*)(Parameters...)>(const_cast<void *>(kernel)), arguments,
         std::index_sequence_for<Parameters...>());
  }
  static void body(void *packed) {
    const auto *made = static_cast<const call *>(packed);
    try {
      std::apply(made->kernel, made->arguments);
    } catch (const thread_exit &) {
    }
  }
  // The last one is there for kernels without parameters.
  static constexpr emulator_parameter parameters[] = {{sizeof(Parameters), alignof(Parameters)}...,
                                                      {0, 1}};
};

// Tells the emulator the kernel's parameters and gives its address; (void *)kernel becomes a call of this.
template <typename... Parameters>
void *kernel_address(void (*kernel)(Parameters...), const char *name) {
  using form = form_of<Parameters...>;
  const emulator_kernel_form known = {reinterpret_cast<const void *>(kernel),
                                      name,
                                      sizeof(typename form::call),
                                      form::pack,
                                      form::body,
                                      form::parameters,
                                      sizeof...(Parameters)};
  emulator_know_kernel(&known);
  return reinterpret_cast<void *>(kernel);
}

// Both for name expressions of nvrtc: a kernel, whose template is made by being named, or a variable's address.
template <typename... Parameters>
const void *name_expression(const char *expression, void (*kernel)(Parameters...)) {
  kernel_address(kernel, expression);
  emulator_name_expression(expression, reinterpret_cast<const void *>(kernel));
  return reinterpret_cast<const void *>(kernel);
}
template <typename T>
const void *name_expression(const char *expression, T *variable) {
  emulator_name_expression(expression, variable);
  return variable;
}

} // namespace emulator

// arguments[i] points to the kernel's argument i.
template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(
      static_cast<const void *>(emulator::kernel_address(kernel, "launched by cudaLaunchKernel")),
      grid, block, arguments, dynamic_shared_bytes, stream);
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void **arguments, size_t dynamic_shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(static_cast<const void *>(emulator::kernel_address(
                                         kernel, "launched by cudaLaunchCooperativeKernel")),
                                     grid, block, arguments, dynamic_shared_bytes, stream);
}

// The kernel and its arguments, with a configuration that may have attributes.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
  if (config == nullptr) return emulator_record_error(cudaErrorInvalidValue);
  return emulator::launcher<Parameters...>(kernel, config)(static_cast<Arguments &&>(arguments)...);
}
template <typename... Parameters>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                void **arguments) {
  return cudaLaunchKernelExC(
      config,
      static_cast<const void *>(emulator::kernel_address(kernel, emulator::kernel_name(kernel))),
      arguments);
}
template <typename... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, void (*kernel)(Parameters...),
                                           const cudaLaunchConfig_t *config) {
  return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void *>(kernel), config);
}
template <typename... Parameters>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, void (*kernel)(Parameters...),
                                                 const cudaLaunchConfig_t *config) {
  return cudaOccupancyMaxPotentialClusterSize(blocks, reinterpret_cast<const void *>(kernel),
                                              config);
}

template <typename... Parameters>
cudaError_t cudaFuncSetCacheConfig(void (*kernel)(Parameters...), cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}

template <typename... Parameters>
cudaError_t cudaFuncSetSharedMemConfig(void (*kernel)(Parameters...), cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void *>(kernel), config);
}

// ---- Occupancy ----------------------------------------------------------------------------------

// The block of the most threads of which a multiprocessor holds as many threads as it can.
template <typename... Parameters, typename Bytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block,
                                                           void (*kernel)(Parameters...),
                                                           Bytes bytes_of, int limit = 0) {
  int device = 0, multiprocessors = 1, most = -1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  for (int threads = limit > 0 && limit < 1024 ? limit : 1024; threads > 0;
       threads = threads > 32 ? (threads - 1) / 32 * 32 : threads - 1) {
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, threads, static_cast<size_t>(bytes_of(threads)));
    if (error != cudaSuccess) return error;
    if (blocks * threads > most) {
      most = blocks * threads;
      *block = threads;
      *grid = blocks * multiprocessors;
    }
  }
  return cudaSuccess;
}
template <typename... Parameters>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, void (*kernel)(Parameters...),
                                               size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return shared_bytes; }, limit);
}

// The flags concern caches.
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Kernel kernel,
                                                                   int threads, size_t shared_bytes,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
}
template <typename... Parameters>
cudaError_t
cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void (*kernel)(Parameters...),
                                            size_t shared_bytes = 0, int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_bytes, limit);
}
template <typename... Parameters, typename Bytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block,
                                                                    void (*kernel)(Parameters...),
                                                                    Bytes bytes_of, int limit = 0,
                                                                    unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, bytes_of, limit);
}

// Of a kernel that is named by its address alone.
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *kernel,
                                                      size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(
      grid, block, reinterpret_cast<void (*)()>(const_cast<void *>(kernel)), shared_bytes, limit);
}

// ---- Memory -------------------------------------------------------------------------------------

template <typename T>
cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void **>(pointer), bytes, pool, stream);
}
template <typename T>
cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <typename T>
cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void **>(pointer), pitch, width, height);
}
template <typename T>
cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void **>(device), host, flags);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(T **pointer, const T &symbol) {
  return cudaGetSymbolAddress(reinterpret_cast<void **>(pointer), symbol);
}
namespace emulator {
// The address of `bytes` bytes of a variable of the device, from its byte number `offset` on.
template <typename T>
cudaError_t place_in_symbol(const T &symbol, size_t bytes, size_t offset, char **place) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset)
    return emulator_refuse_symbol(bytes, offset, sizeof(T));
  void *begin;
  const cudaError_t error = cudaGetSymbolAddress(&begin, symbol);
  if (error == cudaSuccess) *place = static_cast<char *>(begin) + offset;
  return error;
}
} // namespace emulator
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  char *place;
  const cudaError_t error = emulator::place_in_symbol(symbol, bytes, offset, &place);
  return error == cudaSuccess ? cudaMemcpyAsync(place, source, bytes, kind, stream) : error;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void *destination, const T &symbol, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  char *place;
  const cudaError_t error = emulator::place_in_symbol(symbol, bytes, offset, &place);
  return error == cudaSuccess ? cudaMemcpyAsync(destination, place, bytes, kind, stream) : error;
}

// The place of managed memory makes no difference here; CUDA 13's form and the one before it.
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned,
                                        cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}

inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t x, size_t y) {
  return {pointer, pitch, x, y};
}
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

// ---- Memory of three dimensions: slices of rows -------------------------------------------------

inline cudaError_t cudaMalloc3D(cudaPitchedPtr *place, cudaExtent extent) {
  *place = make_cudaPitchedPtr(nullptr, 0, extent.width, extent.height);
  return cudaMallocPitch(&place->ptr, &place->pitch, extent.width, extent.height * extent.depth);
}

namespace emulator {
inline char *row_of(const cudaPitchedPtr &place, const cudaPos &at, size_t slice) {
  return static_cast<char *>(place.ptr) + ((at.z + slice) * place.ysize + at.y) * place.pitch +
         at.x;
}
// The runtime has the functions of one slice.
template <typename Slice>
cudaError_t each_slice(size_t depth, Slice slice) {
  cudaError_t error = cudaSuccess;
  for (size_t z = 0; z < depth && error == cudaSuccess; z++) error = slice(z);
  return error;
}
template <typename Copy>
cudaError_t copy_slices(const cudaMemcpy3DParms *copy, Copy copy_slice) {
  if (copy == nullptr || copy->srcArray != nullptr || copy->dstArray != nullptr)
    return emulator_record_error(cudaErrorInvalidValue); // there are no arrays
  return each_slice(copy->extent.depth, [=](size_t z) {
    return copy_slice(row_of(copy->dstPtr, copy->dstPos, z), copy->dstPtr.pitch,
                      row_of(copy->srcPtr, copy->srcPos, z), copy->srcPtr.pitch, copy->extent.width,
                      copy->extent.height, copy->kind);
  });
}
} // namespace emulator

inline cudaError_t cudaMemset3D(cudaPitchedPtr place, int value, cudaExtent extent) {
  return emulator::each_slice(extent.depth, [=](size_t z) {
    return cudaMemset2D(emulator::row_of(place, {}, z), place.pitch, value, extent.width,
                        extent.height);
  });
}
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr place, int value, cudaExtent extent,
                                     cudaStream_t stream = nullptr) {
  return emulator::each_slice(extent.depth, [=](size_t z) {
    return cudaMemset2DAsync(emulator::row_of(place, {}, z), place.pitch, value, extent.width,
                             extent.height, stream);
  });
}
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *copy) {
  return emulator::copy_slices(copy, [](auto... slice) { return cudaMemcpy2D(slice...); });
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *copy, cudaStream_t stream = nullptr) {
  return emulator::copy_slices(copy,
                               [=](auto... slice) { return cudaMemcpy2DAsync(slice..., stream); });
}

// ---- Graphs -------------------------------------------------------------------------------------

// CUDA 13's form. An edge may let its kernel begin early, and here it begins when the one before has ended.
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}

// CUDA 12's form, and the one before it, which could say where an error was.
// As before CUDA 12.
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                       cudaGraphNode_t *node, cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(made, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                        unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(made, graph, flags);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, cudaGraphNode_t *,
                                        char *, size_t) {
  return cudaGraphInstantiateWithFlags(made, graph, 0);
}

#endif
