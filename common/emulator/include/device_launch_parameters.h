// Stand-in for CUDA's <device_launch_parameters.h>: the indices by which a thread finds its place.
// They are variables and not macros, so that a program may have a variable or a member of the same name, as in
// `dim3 gridDim(8)`. The runtime sets them when a thread gets its turn; they mean nothing on the host.
#ifndef DEVICE_LAUNCH_PARAMETERS_H
#define DEVICE_LAUNCH_PARAMETERS_H

#include "emulator.h"

#define EMULATOR_INDEX(Type, name, symbol)                                                         \
  extern EMULATOR_API __thread Type name __asm__(symbol) __attribute__((tls_model("initial-"       \
                                                                                  "exec")))
EMULATOR_INDEX(uint3, threadIdx, "emulator_thread_index");
EMULATOR_INDEX(uint3, blockIdx, "emulator_block_index");
EMULATOR_INDEX(dim3, blockDim, "emulator_block_dim");
EMULATOR_INDEX(dim3, gridDim, "emulator_grid_dim");
#undef EMULATOR_INDEX

#ifdef __cplusplus
constexpr int warpSize = 32;
#endif

#endif
