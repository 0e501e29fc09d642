#define _GNU_SOURCE
#include "address_space.h"

#include "devices.h"
#include "memory.h"
#include "plural.h"
#include "shared_memory.h"
#include "shared_variable.h"

#include <inttypes.h>
#include <stdio.h>

static size_t offset_in(const void *start, const void *address) {
  return (uintptr_t)address - (uintptr_t)start; // wraps around below the start
}

// Of an address in the block's own shared memory, or in none.
static address_space own_space_of(const worker *worker, const void *address) {
  if (shared_memory_holds(worker, (uintptr_t)address)) return ADDRESS_DYNAMIC_SHARED;
  if (worker->static_shared != NULL &&
      offset_in(worker->static_shared, address) < worker->launch->static_shared_bytes) {
    return ADDRESS_STATIC_SHARED;
  }
  const stack_pool *stacks = &worker->stacks;
  const size_t stack_bytes = stacks->slot_bytes * BLOCK_THREADS_MAX;
  return offset_in(stacks->region, address) < stack_bytes ? ADDRESS_LOCAL : ADDRESS_GLOBAL;
}

address_space address_space_of(const worker *worker, const void *address) {
  const struct worker *owner = cluster_owner(worker, address);
  if (owner == NULL || owner == worker) return own_space_of(worker, address);
  return shared_memory_holds(owner, (uintptr_t)address) ? ADDRESS_DYNAMIC_SHARED
                                                        : ADDRESS_STATIC_SHARED;
}

const char *address_space_name(address_space space) {
  switch (space) {
  case ADDRESS_DYNAMIC_SHARED:
  case ADDRESS_STATIC_SHARED: return "__shared__";
  case ADDRESS_LOCAL: return "__local__";
  case ADDRESS_GLOBAL: break;
  }
  return "__global__";
}

static bool holds(size_t have, size_t offset, size_t bytes) {
  return offset <= have && bytes <= have - offset;
}

bool address_in_shared(const worker *worker, const void *address, size_t bytes) {
  return holds(worker->launch->request->dynamic_shared_bytes,
               offset_in(worker->block.dynamic_shared, address), bytes) ||
         (worker->static_shared != NULL && holds(worker->launch->static_shared_bytes,
                                                 offset_in(worker->static_shared, address), bytes));
}

// Where the address is in the shared memory of `owner`, and whose that is, unless it is that of the worker's block.
static address_text describe_shared(const worker *worker, const struct worker *owner,
                                    const void *address) {
  address_text out;
  shared_variable variable;
  const size_t offset = offset_in(cluster_static_shared(worker, owner), address);
  int length;
  if (shared_memory_holds(owner, (uintptr_t)address)) {
    length = snprintf(out.text, sizeof out.text, "address 0x%zx of dynamic shared memory",
                      offset_in(owner->block.dynamic_shared, address));
  } else if (shared_variable_find(worker->launch->request->kernel, offset, &variable)) {
    length = snprintf(out.text, sizeof out.text, "address %s + 0x%zx", variable.name,
                      offset - variable.offset);
  } else {
    length = snprintf(out.text, sizeof out.text, "an address in a __shared__ array");
  }
  const uint3 block = owner->block.block_index;
  if (owner != worker && (size_t)length < sizeof out.text)
    snprintf(out.text + length, sizeof out.text - (size_t)length, " of block (%u,%u,%u)", block.x,
             block.y, block.z);
  return out;
}

address_text address_describe(const worker *worker, const void *address) {
  address_text out;
  memory_allocation allocation;
  shared_variable variable;
  const struct worker *owner = cluster_owner(worker, address);
  if (owner != NULL) return describe_shared(worker, owner, address);
  switch (own_space_of(worker, address)) {
  case ADDRESS_LOCAL:
    snprintf(out.text, sizeof out.text, "an address in a thread's own local memory");
    return out;
  default: break;
  }
  if (memory_find(address, &allocation)) {
    const int length =
        snprintf(out.text, sizeof out.text, "byte %zu of an allocation of %zu byte%s",
                 offset_in((const void *)allocation.start, address), allocation.bytes,
                 plural(allocation.bytes));
    if (devices_several() && allocation.kind != MEMORY_HOST) {
      snprintf(out.text + length, sizeof out.text - (size_t)length, " of device %d",
               allocation.device);
    }
  } else if (device_variable_find(worker->launch->request->kernel, address, &variable)) {
    snprintf(out.text, sizeof out.text, "address %s + 0x%zx", variable.name, variable.offset);
  } else {
    snprintf(out.text, sizeof out.text, "address 0x%" PRIxPTR, (uintptr_t)address);
  }
  return out;
}

int emulator_is_shared(const void *pointer) {
  const address_space space = own_space_of(current_worker, pointer);
  return space == ADDRESS_STATIC_SHARED || space == ADDRESS_DYNAMIC_SHARED;
}

// ---- Addresses of 32 bits -----------------------------------------------------------------------

// Where dynamic shared memory begins. Both kinds keep their alignment: the static one of 128 bytes, the dynamic
// one, which is at most 1024, and no multiple of twice as many bytes.
static size_t dynamic_start(const worker *worker) {
  enum { GRID = 2 * EMULATOR_SHARED_ALIGNMENT_MAX };
  const size_t fixed = (size_t)worker->gpu->shared_reserved + worker->launch->static_shared_bytes;
  return (fixed + GRID - 1) / GRID * GRID + (uintptr_t)worker->block.dynamic_shared % GRID;
}

uint32_t emulator_shared_address(const void *pointer) {
  const worker *worker = current_worker;
  switch (own_space_of(worker, pointer)) {
  case ADDRESS_DYNAMIC_SHARED:
    return (uint32_t)(dynamic_start(worker) + offset_in(worker->block.dynamic_shared, pointer));
  case ADDRESS_STATIC_SHARED:
    return (uint32_t)((size_t)worker->gpu->shared_reserved +
                      offset_in(worker->static_shared, pointer));
  default:
    emulator_fault(cudaErrorInvalidAddressSpace,
                   "__cvta_generic_to_shared(): the pointer is not to shared memory but to %s",
                   address_describe(worker, pointer).text);
  }
}

void *address_from_shared(const worker *worker, size_t address, size_t bytes) {
  const size_t dynamic = address - dynamic_start(worker);
  const size_t fixed = address - (size_t)worker->gpu->shared_reserved;
  if (holds(worker->launch->request->dynamic_shared_bytes, dynamic, bytes))
    return (char *)worker->block.dynamic_shared + dynamic;
  if (holds(worker->launch->static_shared_bytes, fixed, bytes))
    return (char *)worker->static_shared + fixed;
  return NULL;
}

void *emulator_shared_pointer(size_t address) {
  void *pointer = address_from_shared(current_worker, address, 0);
  if (pointer == NULL) {
    emulator_fault(cudaErrorInvalidAddressSpace,
                   "__cvta_shared_to_generic(): 0x%zx is no address of the block's shared memory",
                   address);
  }
  return pointer;
}
