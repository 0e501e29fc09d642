// Launches with clusters: what the host asks for, and what it is refused.
#ifndef CLUSTER_LAUNCH_H
#define CLUSTER_LAUNCH_H

#include "emulator.h"

// The blocks of a cluster: 1 x 1 x 1 where neither the kernel nor the launch says.
dim3 cluster_launch_dim(const emulator_launch_request *request);

// Whether the kernel or the launch says so.
bool cluster_launch_specified(const emulator_launch_request *request);

// Refuses clusters that a GPU refuses.
cudaError_t cluster_launch_check(const emulator_launch_request *request);

#endif
