// Stands for CUDA's <cuda_awbarrier.h>, which the emulator lacks. The guide lists these headers (guide/setup.md).
#error                                                                                             \
    "the emulator has no __mbarrier_t: use the barriers of common/kernel/hopper.cuh, such as barrier_create and barrier_wait, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
