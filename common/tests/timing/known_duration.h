// For tests: enqueues a kernel that runs for a given time by the GPU's own timer, %globaltimer (PTX ISA,
// "Special Registers").
#ifndef KNOWN_DURATION_H
#define KNOWN_DURATION_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C"
#endif
    cudaError_t
    spin(unsigned microseconds, cudaStream_t stream);

#endif
