// Stands for CUDA's <cuda_fp4.h>, which the emulator lacks. The guide lists these headers (guide/setup.md).
#error "the emulator has no 4-bit floating point: use half or __nv_bfloat16, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
