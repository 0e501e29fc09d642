// Thrust's own header, which declares structures __half and __half2. Here these are other names of classes, so it gets
// names of its own for what it declares.
#pragma once
#include <cuda_fp16.h>

#include <type_traits>

#define __half  emulator_thrust_half
#define __half2 emulator_thrust_half2
#include_next <thrust/type_traits/is_trivially_relocatable.h>
#undef __half
#undef __half2
