// The runtime API's C++ overloads for memory, which take typed pointers and variables, and its functions for pitched memory
// of three dimensions.
#ifndef EMULATOR_DETAIL_MEMORY_OVERLOADS_H
#define EMULATOR_DETAIL_MEMORY_OVERLOADS_H

#include "launcher.h"

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

// ---- Memory -------------------------------------------------------------------------------------

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

#endif
