// CUDA has some device functions here, which <cuda_runtime.h> includes.
#include "cuda_runtime.h"
