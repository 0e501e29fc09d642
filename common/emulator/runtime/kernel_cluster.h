// The clusters that a kernel declares by `__cluster_dims__`.
#ifndef KERNEL_CLUSTER_H
#define KERNEL_CLUSTER_H

#include <cuda_runtime_api.h>

// The blocks of its clusters; 0 x 0 x 0 when it declares none, or its module has been stripped of symbols.
dim3 kernel_cluster(const void *kernel);

#endif
