// Stand-in for CUDA's <cudaTypedefs.h>: the types of the driver's functions that programs ask for at run time. Only that of
// the tensor maps is there.
#ifndef CUDA_TYPEDEFS_H
#define CUDA_TYPEDEFS_H

#include "cuda.h"

typedef __typeof__(&cuTensorMapEncodeTiled) PFN_cuTensorMapEncodeTiled_v12000;
#define PFN_cuTensorMapEncodeTiled PFN_cuTensorMapEncodeTiled_v12000

#endif
