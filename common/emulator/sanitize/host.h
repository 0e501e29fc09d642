// Faults of host code. Each is reported when it happens, and once for each line of the source. Any thread of the host may
// call these functions.
#ifndef SANITIZE_HOST_H
#define SANITIZE_HOST_H

#include "observer.h"

// An access of the host's compiled code, whose call returns to `pc`: it must not be to memory of the device.
void host_access(uintptr_t address, size_t bytes, observed_kind kind, const void *pc);

// Call it when there is new memory of the device.
void host_memory_allocated(void);

#endif
