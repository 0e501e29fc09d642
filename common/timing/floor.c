#include "timing/floor.h"

#include "device/device.h"
#include "timing/figures.h"
#include <math.h>

cudaError_t timing_launch_nothing(void *context, size_t rotation, cudaStream_t stream) {
  (void)context, (void)rotation, (void)stream;
  return cudaSuccess;
}

cudaError_t timing_launch_empty_kernel(void *context, size_t rotation, cudaStream_t stream) {
  (void)context, (void)rotation;
  return device_empty(stream);
}

timing_floor timing_floor_of(const timing_contender *nothing,
                             const timing_contender *empty_kernel) {
  const timing_figures kernel = timing_figure(empty_kernel);
  return (timing_floor){.nothing = timing_figure(nothing).times.median,
                        .empty_kernel = kernel.times.median,
                        .empty_kernel_graph = kernel.graph.median};
}

timing_floor timing_no_floor(void) { return (timing_floor){NAN, NAN, NAN}; }
