// Stand-in for CUDA's <host_defines.h>: its contents are in <cuda_runtime.h>.
#include "cuda_runtime.h"
