// Stands for CUDA's <cooperative_groups.h>, which the emulator lacks. The guide lists these headers (guide/setup.md).
#error                                                                                             \
    "the emulator has no cooperative groups: use __syncthreads(), __syncwarp() and the shuffles and votes of a warp, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
