// Copies and fills. The side that is on the device must lie inside one allocation.
#include "emulator.h"
#include "errors.h"
#include "memory.h"
#include "observer.h"

#include <string.h>

static bool known_to_device(const void *address) {
  memory_allocation entry;
  return memory_find(address, &entry) && entry.kind != MEMORY_HOST;
}

// Memory that only the device may use: not managed memory, which the host may use as well.
static bool host_may_use(const void *address) {
  memory_allocation entry;
  return !memory_find(address, &entry) || entry.kind == MEMORY_HOST || entry.kind == MEMORY_MANAGED;
}

static cudaError_t copy(void *destination, const void *source, size_t bytes,
                        enum cudaMemcpyKind kind) {
  RETURN_IF_STICKY();
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return errors_record(cudaErrorInvalidMemcpyDirection);
  }
  if (bytes == 0) return cudaSuccess;
  if (destination == NULL || source == NULL) return errors_record(cudaErrorInvalidValue);
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault) {
    to_device = known_to_device(destination);
    from_device = known_to_device(source);
  }
  const bool valid =
      (to_device ? memory_on_device(destination, bytes) : host_may_use(destination)) &&
      (from_device ? memory_on_device(source, bytes) : host_may_use(source));
  if (!valid) return errors_record(cudaErrorInvalidValue);
  observer_memory_written(destination, bytes, from_device ? source : NULL);
  memmove(destination, source, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *destination, const void *source, size_t bytes,
                       enum cudaMemcpyKind kind) {
  return copy(destination, source, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)stream;
  return copy(destination, source, bytes, kind);
}

cudaError_t cudaMemset(void *destination, int value, size_t bytes) {
  RETURN_IF_STICKY();
  if (bytes == 0) return cudaSuccess;
  if (!memory_on_device(destination, bytes)) return errors_record(cudaErrorInvalidValue);
  observer_memory_written(destination, bytes, NULL);
  memset(destination, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *destination, int value, size_t bytes, cudaStream_t stream) {
  (void)stream;
  return cudaMemset(destination, value, bytes);
}

cudaError_t emulator_symbol_address(void **pointer, const void *symbol, size_t bytes) {
  RETURN_IF_STICKY();
  if (pointer == NULL) return errors_record(cudaErrorInvalidValue);
  if (!memory_add_symbol(symbol, bytes)) return errors_record(cudaErrorMemoryAllocation);
  *pointer = (void *)(uintptr_t)symbol;
  return cudaSuccess;
}

// The symbol itself is a variable of the program; the C++ overloads have checked its size.
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
  RETURN_IF_STICKY();
  if (symbol == NULL) return errors_record(cudaErrorInvalidSymbol);
  const bool from_device =
      kind == cudaMemcpyDeviceToDevice || (kind == cudaMemcpyDefault && known_to_device(source));
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) {
    return errors_record(cudaErrorInvalidMemcpyDirection);
  }
  if (from_device ? !memory_on_device(source, bytes) : !host_may_use(source)) {
    return errors_record(cudaErrorInvalidValue);
  }
  observer_memory_written((const char *)symbol + offset, bytes, from_device ? source : NULL);
  memcpy((char *)(uintptr_t)symbol + offset, source, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyFromSymbol(void *destination, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
  RETURN_IF_STICKY();
  if (symbol == NULL) return errors_record(cudaErrorInvalidSymbol);
  const bool to_device = kind == cudaMemcpyDeviceToDevice ||
                         (kind == cudaMemcpyDefault && known_to_device(destination));
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) {
    return errors_record(cudaErrorInvalidMemcpyDirection);
  }
  if (to_device ? !memory_on_device(destination, bytes) : !host_may_use(destination)) {
    return errors_record(cudaErrorInvalidValue);
  }
  observer_memory_written(destination, bytes, (const char *)symbol + offset);
  memcpy(destination, (const char *)symbol + offset, bytes);
  return cudaSuccess;
}
