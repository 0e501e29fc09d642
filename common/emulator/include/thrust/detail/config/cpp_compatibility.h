// Thrust's own header, but for what it says about host and device code; see detail/cuda_libraries.h.
#pragma once
#include_next <thrust/detail/config/cpp_compatibility.h>

#undef THRUST_IS_DEVICE_CODE
#undef THRUST_IS_HOST_CODE
#undef THRUST_INCLUDE_DEVICE_CODE
#undef THRUST_INCLUDE_HOST_CODE
#define THRUST_IS_DEVICE_CODE      CUB_IS_DEVICE_CODE
#define THRUST_IS_HOST_CODE        CUB_IS_HOST_CODE
#define THRUST_INCLUDE_DEVICE_CODE 1
#define THRUST_INCLUDE_HOST_CODE   1
