// Stands for CUDA's <curand_kernel.h>, which the emulator lacks. The guide lists these headers (guide/setup.md).
#error "the emulator has no cuRAND: use numbers that the host makes, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
