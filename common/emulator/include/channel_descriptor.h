// Stand-in for CUDA's <channel_descriptor.h>: its contents are in <cuda_runtime.h>.
#include "cuda_runtime.h"
