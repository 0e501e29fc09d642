// The errors that host functions return: the last error of each host thread,
// and the sticky error that a fault inside a kernel sets until cudaDeviceReset.
#ifndef ERRORS_H
#define ERRORS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

// Makes `error` the host thread's last error, unless it is cudaSuccess. A mode that reports it adds the line `why`, unless
// that is NULL.
void errors_note(cudaError_t error, const char *why);

// The same, and returns it. They are inline, so that errors_note is not called last, and its caller stays on the stack.
static inline cudaError_t errors_record_because(cudaError_t error, const char *why) {
  errors_note(error, why);
  return error;
}
static inline cudaError_t errors_record(cudaError_t error) {
  return errors_record_because(error, NULL);
}

// The sticky error of the host thread's device, and of any device; cudaSuccess while there is none. Only the first one
// is kept. In a process that came too late (process.h) the first function returns cudaErrorInitializationError.
cudaError_t errors_sticky(void);
cudaError_t errors_sticky_of(int device);
void errors_set_sticky(int device, cudaError_t error);

// Forgets the sticky error of the host thread's device, and this thread's last one.
void errors_reset(void);

// Returns from the calling host function when an earlier kernel has faulted.
#define RETURN_IF_STICKY()                                                                         \
  do {                                                                                             \
    if (errors_sticky() != cudaSuccess) return errors_record(errors_sticky());                     \
  } while (0)

#endif
