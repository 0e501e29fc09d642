// Thrust's own header, which finds here that it may launch kernels: it asks whether this is host code.
#pragma once
#pragma push_macro("__CUDA_ARCH__")
#undef __CUDA_ARCH__
#include_next <thrust/system/cuda/config.h>
#pragma pop_macro("__CUDA_ARCH__")
