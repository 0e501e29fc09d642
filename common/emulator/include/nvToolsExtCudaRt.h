// Stand-in for NVTX's <nvToolsExtCudaRt.h>.
#include "nvtx3/nvToolsExtCudaRt.h"
