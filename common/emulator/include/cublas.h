// Stand-in for CUDA's <cublas.h>: that of version 2.
#include "cublas_v2.h"
