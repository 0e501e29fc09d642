// Thrust's own header, in its form for a compiler of host and device code at once.
#pragma once
#pragma push_macro("_NVHPC_CUDA")
#undef _NVHPC_CUDA
#define _NVHPC_CUDA
#include_next <thrust/system/cuda/detail/get_value.h>
#pragma pop_macro("_NVHPC_CUDA")
