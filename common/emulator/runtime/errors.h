// What the host functions return: the last error of each host thread, and the error that a fault
// inside a kernel leaves behind until cudaDeviceReset.
#ifndef ERRORS_H
#define ERRORS_H

#include <cuda_runtime_api.h>

// Makes `error` the host thread's last error, unless it is cudaSuccess, and returns it.
cudaError_t errors_record(cudaError_t error);

// The error that stays; cudaSuccess while there is none. The first to be set is kept.
cudaError_t errors_sticky(void);
void errors_set_sticky(cudaError_t error);

// Forgets the sticky error and this host thread's last one.
void errors_reset(void);

// Returns from the calling host function when an earlier kernel has faulted.
#define RETURN_IF_STICKY()                                                                         \
  do {                                                                                             \
    if (errors_sticky() != cudaSuccess) return errors_record(errors_sticky());                     \
  } while (0)

#endif
