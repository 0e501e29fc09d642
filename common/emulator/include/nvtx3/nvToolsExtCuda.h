// Stand-in for NVTX's <nvToolsExtCuda.h>.
#include "nvToolsExt.h"
