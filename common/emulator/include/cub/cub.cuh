// Stands for CUDA's <cub/cub.cuh>, which the emulator lacks. The guide lists these headers (guide/setup.md).
#error                                                                                             \
    "the emulator has no CUB: use the shuffles of a warp and shared memory, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
