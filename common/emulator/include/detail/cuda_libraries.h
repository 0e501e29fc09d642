// What CUB's and Thrust's headers must know here: host and device code are one program, and whether a function runs in a
// kernel is known when it runs. They have the words for it, because NVIDIA's nvc++ compiles so too.
#ifndef EMULATOR_DETAIL_CUDA_LIBRARIES_H
#define EMULATOR_DETAIL_CUDA_LIBRARIES_H

#include "emulator.h"

#define CUB_PTX_ARCH            EMULATOR_ARCH // __CUDA_ARCH__, and the host has it too
#define CUB_IS_DEVICE_CODE      (emulator_current != nullptr)
#define CUB_IS_HOST_CODE        (emulator_current == nullptr)
#define CUB_INCLUDE_DEVICE_CODE 1
#define CUB_INCLUDE_HOST_CODE   1
#define CUB_RUNTIME_ENABLED
#define CUB_RUNTIME_FUNCTION

// What kernels call that launch others, which the emulator's kernels cannot.
inline cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance() { return cudaErrorNotSupported; }

#endif
