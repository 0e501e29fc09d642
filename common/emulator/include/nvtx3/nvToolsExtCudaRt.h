// Stand-in for NVTX's <nvToolsExtCudaRt.h>.
#include "nvToolsExt.h"
