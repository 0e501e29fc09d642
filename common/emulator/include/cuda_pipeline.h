// Stand-in for CUDA's <cuda_pipeline.h>: the primitives, without the experimental pipeline class.
#ifndef CUDA_PIPELINE_H
#define CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif
