// Stand-in for NVTX's <nvToolsExt.h>.
#include "nvtx3/nvToolsExt.h"
