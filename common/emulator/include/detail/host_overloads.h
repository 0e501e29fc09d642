// The runtime API's C++ overloads, which take kernels and variables.
#ifndef EMULATOR_DETAIL_HOST_OVERLOADS_H
#define EMULATOR_DETAIL_HOST_OVERLOADS_H

#include "launcher.h"
#include "memory_overloads.h"

#include <new>
#include <tuple>
#include <utility>

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
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

template <typename... Parameters>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void (*kernel)(Parameters...),
                                                      int blocks, int block_threads) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void *>(kernel),
                                                   blocks, block_threads);
}

namespace emulator {

// What cudaLaunchKernel and graphs need to know of a kernel that is named by its address alone.
template <typename... Parameters>
struct form_of {
  using call = kernel_call<Parameters...>;
  template <size_t... index>
  static void make(void *packed, void (*kernel)(Parameters...), void **arguments,
                   std::index_sequence<index...>) {
    new (packed)
        call{kernel,
             {kernel_argument<Parameters>(
                 *static_cast<std::remove_reference_t<Parameters> *>(arguments[index]))...}};
    (void)arguments;
  }
  static void pack(void *packed, const void *kernel, void **arguments) {
    make(packed, reinterpret_cast<void (*)(Parameters...)>(const_cast<void *>(kernel)), arguments,
         std::index_sequence_for<Parameters...>());
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
                                      form::call::run,
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
      static_cast<const void *>(emulator::kernel_address(kernel, emulator::kernel_name(kernel))),
      grid, block, arguments, dynamic_shared_bytes, stream);
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void **arguments, size_t dynamic_shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(
      static_cast<const void *>(emulator::kernel_address(kernel, emulator::kernel_name(kernel))),
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

// ---- Graphs -------------------------------------------------------------------------------------

// CUDA 13's form. An edge may let its kernel begin early, and here it begins when the one before has ended.
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}

// As before CUDA 12.
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                       cudaGraphNode_t *node, cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(made, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}
// CUDA 12's form, and the one before it, which could say where an error was.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                        unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(made, graph, flags);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, cudaGraphNode_t *,
                                        char *, size_t) {
  return cudaGraphInstantiateWithFlags(made, graph, 0);
}

#endif
