// Stand-in for CUDA's <device_launch_parameters.h>: the indices by which a thread finds its place.
// They are valid only inside kernels; a host thread that reads them gets a segmentation fault.
#ifndef DEVICE_LAUNCH_PARAMETERS_H
#define DEVICE_LAUNCH_PARAMETERS_H

#include "emulator.h"

#define threadIdx (emulator_current->thread_index)
#define blockIdx  (emulator_current->block->block_index)
#define blockDim  (emulator_current->block->block_dim)
#define gridDim   (emulator_current->block->grid_dim)

#ifdef __cplusplus
constexpr int warpSize = 32;
#endif

#endif
