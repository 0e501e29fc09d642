// Stand-in for CUDA's <builtin_types.h>: its contents are in <cuda_runtime.h>.
#include "cuda_runtime.h"
