// Small kernels of which one can say on paper what they ask of memory: to see whether the emulator's
// counts, and a GPU's counters, are what one takes them for.
#ifndef CALIBRATION_H
#define CALIBRATION_H

#include "columns/columns.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// Floats that the kernels read, and write.
enum { CALIBRATION_FLOATS = 1 << 17 };

typedef struct {
  const char *name;
  count_values expected; // of one launch
} calibration_case;

// Numbers are below the count.
size_t calibration_count(void);
calibration_case calibration_at(size_t number);

// Launches the kernel once and returns the launch's error. `in` and `out` have CALIBRATION_FLOATS floats
// of device memory.
cudaError_t calibration_launch(size_t number, const float *in, float *out);

#ifdef __cplusplus
}
#endif
#endif
