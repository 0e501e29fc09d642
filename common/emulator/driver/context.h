// The contexts of the driver API: each host thread has a stack of them, and the uppermost one is current.
#ifndef CONTEXT_H
#define CONTEXT_H

#include "devices.h"

#include <cuda.h>

// CUDA_SUCCESS when the driver is initialised; when a context is current besides.
CUresult context_driver_ready(void);
CUresult context_ready(void);

// Ends a call of the runtime API that CALL_RUNTIME has begun: its error as the driver says it.
CUresult context_result(cudaError_t error);

#define CALL_RUNTIME(call) (devices_enter_driver(), context_result(call))

// The function of the runtime API, where a context is current.
#define IN_CONTEXT(call) (context_ready() != CUDA_SUCCESS ? context_ready() : CALL_RUNTIME(call))

#endif
