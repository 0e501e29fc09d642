// The runtime API's C++ overloads, which take typed pointers, kernels and variables.
#ifndef EMULATOR_DETAIL_HOST_OVERLOADS_H
#define EMULATOR_DETAIL_HOST_OVERLOADS_H

#include "launcher.h"

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

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  const bool fits = offset <= sizeof(T) && bytes <= sizeof(T) - offset;
  return fits ? cudaMemcpyToSymbol(static_cast<const void *>(&symbol), source, bytes, offset, kind)
              : emulator_record_error(cudaErrorInvalidValue);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *destination, const T &symbol, size_t bytes,
                                 size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  const bool fits = offset <= sizeof(T) && bytes <= sizeof(T) - offset;
  return fits ? cudaMemcpyFromSymbol(destination, static_cast<const void *>(&symbol), bytes, offset,
                                     kind)
              : emulator_record_error(cudaErrorInvalidValue);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
  return emulator_symbol_address(pointer, static_cast<const void *>(&symbol), sizeof(T));
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

template <typename... Parameters, size_t... index>
cudaError_t launch_with(const launcher<Parameters...> &launch, void **arguments,
                        std::index_sequence<index...>) {
  return launch(*static_cast<std::remove_reference_t<Parameters> *>(arguments[index])...);
}

} // namespace emulator

// arguments[i] points to the kernel's argument i. The kernel's type must be
// known; the form that takes the kernel as const void * does not exist here.
template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  const emulator::launcher<Parameters...> launch(kernel, "launched by cudaLaunchKernel", grid,
                                                 block, dynamic_shared_bytes, stream);
  return emulator::launch_with(launch, arguments, std::index_sequence_for<Parameters...>());
}

#endif
