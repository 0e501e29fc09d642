// Launches with clusters: what the host asks for, and what it is refused.
#ifndef CLUSTER_LAUNCH_H
#define CLUSTER_LAUNCH_H

#include "emulator.h"

// Whether all blocks take turns, because the launch is cooperative and an observer has only one worker.
bool cluster_launch_whole_grid(const emulator_launch_request *request);

// The blocks that take turns: the whole grid, or a cluster, which is 1 x 1 x 1 where neither the kernel nor the launch
// says.
dim3 cluster_launch_dim(const emulator_launch_request *request);

// Whether the kernel or the launch says how large clusters are.
bool cluster_launch_specified(const emulator_launch_request *request);

// Refuses clusters that a GPU refuses.
cudaError_t cluster_launch_check(const emulator_launch_request *request);

// Refuses a cooperative launch of more blocks than the GPU holds at once (as a GPU does), or than can take turns.
cudaError_t cluster_launch_check_cooperative(const emulator_launch_request *request);

#endif
