// Stand-in for NVTX's <nvToolsExtCuda.h>.
#include "nvtx3/nvToolsExtCuda.h"
