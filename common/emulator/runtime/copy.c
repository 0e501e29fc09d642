// Copies and fills. The side that is on a device must lie inside one allocation. On several devices they are queued.
#include "emulator.h"
#include "errors.h"
#include "graph.h"
#include "memory.h"
#include "observer.h"
#include "plural.h"
#include "shared_variable.h"
#include "transfer.h"

#include <stdio.h>
#include <string.h>

#define CALLED(function) ((host_call){function, __builtin_return_address(0)})

static bool known_to_device(const void *address) {
  memory_allocation entry;
  return memory_find(address, &entry) && entry.kind != MEMORY_HOST;
}

// Memory that only the device may use: not managed memory, which the host may use as well.
static bool host_may_use(const void *address) {
  memory_allocation entry;
  return !memory_find(address, &entry) || entry.kind == MEMORY_HOST || entry.kind == MEMORY_MANAGED;
}

// Whether a copy to this memory is over when cudaMemcpyAsync returns: host memory that is not pinned (CUDA Runtime API
// reference, "API synchronization behavior").
static bool waited_for(const void *destination) {
  memory_allocation entry;
  return !memory_find(destination, &entry);
}

// Whether both lie in memory that only their one device uses. Then the host does not wait, whatever the function's name
// says: cudaMemset and cudaMemcpy return before the work is done (CUDA Runtime API reference, "API synchronization
// behavior"). A copy between two devices comes before all later work of both (CUDA C++ Programming Guide, "Peer-to-Peer
// Memory Copy"), and so the host waits for it here.
static bool within_device(const void *destination, const void *source) {
  memory_allocation to, from;
  return memory_find(destination, &to) && memory_find(source, &from) && to.device == from.device &&
         !host_may_use(destination) && !host_may_use(source);
}

static bool usable(const void *address, size_t bytes, bool by_device) {
  return by_device ? memory_on_device(address, bytes) : host_may_use(address);
}

// Refuses memory that is not usable, and says why. Whether a variable of the program is one of the device or of the host
// is not known here, until cudaGetSymbolAddress has been asked for its address. Of a __device__ variable a GPU takes the
// address that a kernel has handed out, and refuses the one that host code has taken, which is that of another place. Here
// they are one, and the mistake is more frequent than a kernel that hands it out.
static cudaError_t refuse(const char *side, const void *address, size_t bytes, bool by_device) {
  char why[480], place[112];
  memory_allocation entry;
  shared_variable variable;
  memory_describe((uintptr_t)address, place, sizeof place);
  if (!by_device) {
    snprintf(why, sizeof why, "the %s is device memory, and the call takes it for the host's",
             side);
  } else if (!known_to_device(address) && device_variable_find(address, address, &variable)) {
    snprintf(why, sizeof why,
             "the %s is byte %zu of the variable %s, which is not known as device memory: if it is "
             "a __device__ variable, call cudaGetSymbolAddress for it before. A GPU refuses its "
             "address from host code and takes it from a kernel; here both are the same",
             side, variable.offset, variable.name);
  } else if (!known_to_device(address)) {
    snprintf(why, sizeof why, "the %s is no device memory: address 0x%zx, %s", side,
             (uintptr_t)address, place);
  } else {
    memory_find(address, &entry);
    const size_t offset = (uintptr_t)address - entry.start;
    snprintf(
        why, sizeof why,
        "%zu byte%s not fit into the %s, which has %zu: byte %zu of an allocation of %zu byte%s",
        bytes, bytes == 1 ? " does" : "s do", side, entry.bytes - offset, offset, entry.bytes,
        plural(entry.bytes));
  }
  return errors_record_because(cudaErrorInvalidValue, why);
}

static cudaError_t copy(void *destination, const void *source, size_t bytes,
                        enum cudaMemcpyKind kind, cudaStream_t stream, bool wait, host_call call) {
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
  if (!usable(destination, bytes, to_device))
    return refuse("destination", destination, bytes, to_device);
  if (!usable(source, bytes, from_device)) return refuse("source", source, bytes, from_device);
  if (devices_several()) {
    const cudaError_t queued = transfer_copy(destination, source, bytes, stream, call);
    if (queued != cudaSuccess) return errors_record(queued);
    wait = (wait && !within_device(destination, source)) || waited_for(destination);
    return wait ? errors_record(queue_wait(queue_end(stream))) : cudaSuccess;
  }
  observer_memory_written(destination, bytes, from_device ? source : NULL);
  memmove(destination, source, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *destination, const void *source, size_t bytes,
                       enum cudaMemcpyKind kind) {
  const cudaError_t refused = graph_refuses_implicit(NULL);
  if (refused != cudaSuccess) return refused;
  return copy(destination, source, bytes, kind, NULL, true, CALLED("cudaMemcpy"));
}

cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
  if (graph_takes(stream)) return graph_capture_copy(destination, source, bytes, kind);
  return copy(destination, source, bytes, kind, stream, false, CALLED("cudaMemcpyAsync"));
}

static cudaError_t copy_peer(void *destination, int to, const void *source, int from, size_t bytes,
                             cudaStream_t stream, bool wait, host_call call) {
  RETURN_IF_STICKY();
  memory_allocation target, origin;
  if (to < 0 || to >= devices_count() || from < 0 || from >= devices_count()) {
    return errors_record(cudaErrorInvalidDevice);
  }
  if (bytes == 0) return cudaSuccess;
  if (!memory_find(destination, &target) || !memory_find(source, &origin) || target.device != to ||
      origin.device != from) {
    return errors_record(cudaErrorInvalidValue);
  }
  return copy(destination, source, bytes, cudaMemcpyDeviceToDevice, stream, wait, call);
}

cudaError_t cudaMemcpyPeer(void *destination, int to, const void *source, int from, size_t bytes) {
  return copy_peer(destination, to, source, from, bytes, NULL, true, CALLED("cudaMemcpyPeer"));
}

cudaError_t cudaMemcpyPeerAsync(void *destination, int to, const void *source, int from,
                                size_t bytes, cudaStream_t stream) {
  return copy_peer(destination, to, source, from, bytes, stream, false,
                   CALLED("cudaMemcpyPeerAsync"));
}

static cudaError_t fill(void *destination, int value, size_t bytes, cudaStream_t stream, bool wait,
                        host_call call) {
  RETURN_IF_STICKY();
  if (bytes == 0) return cudaSuccess;
  if (!usable(destination, bytes, true)) return refuse("destination", destination, bytes, true);
  if (devices_several()) {
    const cudaError_t queued = transfer_fill(destination, value, bytes, stream, call);
    if (queued != cudaSuccess) return errors_record(queued);
    wait = wait && !within_device(destination, destination);
    return wait ? errors_record(queue_wait(queue_end(stream))) : cudaSuccess;
  }
  observer_memory_written(destination, bytes, NULL);
  memset(destination, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void *destination, int value, size_t bytes) {
  const cudaError_t refused = graph_refuses_implicit(NULL);
  if (refused != cudaSuccess) return refused;
  return fill(destination, value, bytes, NULL, true, CALLED("cudaMemset"));
}

cudaError_t cudaMemsetAsync(void *destination, int value, size_t bytes, cudaStream_t stream) {
  if (graph_takes(stream)) return graph_capture_fill(destination, value, bytes);
  return fill(destination, value, bytes, stream, false, CALLED("cudaMemsetAsync"));
}

cudaError_t emulator_symbol_address(void **pointer, const void *symbol, size_t bytes) {
  RETURN_IF_STICKY();
  if (pointer == NULL) return errors_record(cudaErrorInvalidValue);
  if (!memory_add_symbol(symbol, bytes)) return errors_record(cudaErrorMemoryAllocation);
  *pointer = (void *)(uintptr_t)symbol;
  return cudaSuccess;
}

cudaError_t emulator_refuse_symbol(size_t bytes, size_t offset, size_t symbol_bytes) {
  char why[160];
  snprintf(why, sizeof why,
           "%zu byte%s from byte %zu on do%s not fit into a variable of %zu byte%s", bytes,
           plural(bytes), offset, bytes == 1 ? "es" : "", symbol_bytes, plural(symbol_bytes));
  return errors_record_because(cudaErrorInvalidValue, why);
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
  if (!usable(source, bytes, from_device)) return refuse("source", source, bytes, from_device);
  if (devices_several()) queue_wait_device(devices_current());
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
  if (!usable(destination, bytes, to_device))
    return refuse("destination", destination, bytes, to_device);
  if (devices_several()) queue_wait_device(devices_current());
  observer_memory_written(destination, bytes, (const char *)symbol + offset);
  memcpy(destination, (const char *)symbol + offset, bytes);
  return cudaSuccess;
}
