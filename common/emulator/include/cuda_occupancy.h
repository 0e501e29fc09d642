// Stand-in for CUDA's <cuda_occupancy.h>, which Thrust includes and does not use.
#include "cuda_runtime_api.h"
