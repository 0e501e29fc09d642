// The memory that a kernel may use, and its shadow.
#ifndef SANITIZE_REGIONS_H
#define SANITIZE_REGIONS_H

#include "shadow.h"

// The observer's hooks add and remove device memory (regions.c). Each launch adds
// the variables and constants of the kernel's module, and prepares shared memory.
void regions_launch_begin(const launch *launch);
void regions_block_begin(worker *worker);

// The region of device memory, variables or constants that holds the address; NULL when none does.
shadow_region *regions_find(uintptr_t address);

// The running block's shared memory. Dynamic: as many bytes as the launch asked for.
shadow_region *regions_dynamic_shared(void);
shadow_region *regions_static_shared(void);

// The same of another block of its cluster, where the running block reaches it.
shadow_region regions_dynamic_shared_of(const worker *block);
shadow_region regions_static_shared_of(const worker *block);

// Whether the bytes lie in one `__shared__` variable, and not in that of another kernel.
bool regions_in_shared_variable(size_t offset, size_t bytes);

#endif
