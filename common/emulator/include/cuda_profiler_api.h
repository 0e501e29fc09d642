// Stand-in for CUDA's <cuda_profiler_api.h>: its functions are in cuda_runtime_api.h, and do nothing.
#include "cuda_runtime_api.h"
