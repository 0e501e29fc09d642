// Small kernels whose memory requests can be counted on paper. They show whether the emulator's counts and a
// GPU's counters are right, and whether both count the same things.
#ifndef CALIBRATION_H
#define CALIBRATION_H

#include "columns/columns.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// The kernels read, and write, this many floats.
enum { CALIBRATION_FLOATS = 1 << 17 };

typedef struct {
  const char *name;
  count_values expected; // of one launch
} calibration_case;

// Kernels have the numbers from 0 to the count less 1.
size_t calibration_count(void);
calibration_case calibration_at(size_t number);

// Launches the kernel once and returns the launch's error. `in` and `out` have CALIBRATION_FLOATS floats
// of device memory.
cudaError_t calibration_launch(size_t number, const float *in, float *out);

#ifdef __cplusplus
}
#endif
#endif
