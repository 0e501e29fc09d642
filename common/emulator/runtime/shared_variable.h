// The names of `__shared__` and `__device__` variables, for reports.
#ifndef SHARED_VARIABLE_H
#define SHARED_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char name[96]; // as in the source: "K_smem"
  size_t offset; // in the static shared memory of the kernel's module
  size_t bytes;
} shared_variable;

// The variable that holds the byte at `offset` in the static shared memory of the kernel's module.
// False when none does, or when the module was stripped of its symbols.
bool shared_variable_find(const void *kernel, size_t offset, shared_variable *found);

// The same of a variable in device memory, by an address in it; `offset` is then that of the address in the variable.
bool device_variable_find(const void *kernel, const void *address, shared_variable *found);

#endif
