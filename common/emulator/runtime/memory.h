// The table of the memory that the host functions have allocated.
#ifndef MEMORY_H
#define MEMORY_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  MEMORY_DEVICE,
  MEMORY_MANAGED,
  MEMORY_HOST,   // pinned
  MEMORY_SYMBOL, // a __device__ or __constant__ variable whose address was asked for
  MEMORY_MAPPED, // what the driver API has mapped and opened
} memory_kind;

typedef struct {
  uintptr_t start;
  size_t bytes; // as asked for
  memory_kind kind;
  int device;        // that owns it
  uintptr_t mapping; // guards included; 0 for memory that was not allocated here
  size_t mapping_bytes;
} memory_allocation;

// Does new memory hold zeros (EMU_ZERO_MEMORY=1), as it often does on a GPU, instead of NaN?
bool memory_begins_at_zero(void);

// What cudaMalloc and its kin do, and cudaFree and cudaFreeHost (`host`): errors are recorded.
cudaError_t memory_allocate(void **pointer, size_t bytes, memory_kind kind);
cudaError_t memory_deallocate(void *pointer, bool host);

// The bytes of the current device that are free, and all of them.
void memory_count(size_t *free_bytes, size_t *total_bytes);

// The allocation that holds the address. False when none does.
bool memory_find(const void *address, memory_allocation *found);

// The allocation whose pages, or guards, hold the address.
bool memory_find_near(const void *address, memory_allocation *found);

// Whether `bytes` from the address lie in one allocation that the device can use.
bool memory_on_device(const void *address, size_t bytes);

// Adds a module's variable to the table, so that copies to its address are accepted.
bool memory_add_symbol(const void *address, size_t bytes);

// Adds memory that the driver API has mapped, so that copies and kernels may use it, and takes it away.
bool memory_add_mapped(const void *address, size_t bytes);
bool memory_remove_mapped(const void *address);

// Adds memory of the host that the program has allocated itself, so that the device may use it, and takes it away.
bool memory_register_host(void *address, size_t bytes);
bool memory_unregister_host(const void *address);

// Describes the address, to complete "the address is ...": "36 bytes
// past the end of an allocation of 4096 bytes", "inside an allocation
// of 4096 bytes that has been freed", "near no allocation".
void memory_describe(uintptr_t address, char *text, size_t text_bytes);

// Frees all allocations of the device.
void memory_reset(int device);

// Around a kernel of `device`: memory of a device that it cannot reach faults when it is accessed.
void memory_close_to(int device);
void memory_open(void);

#endif
