#include "cluster_faults.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

static int *device_ints(int count) {
  int *data;
  cudaMalloc(&data, count * sizeof(int));
  cudaMemset(data, 0, count * sizeof(int));
  return data;
}

__global__ void healthy_kernel(int *out) {
  cg::this_cluster().sync();
  *out = 1;
}
bool healthy_launch(void) {
  int *out = nullptr, value = 0;
  cudaMalloc(&out, sizeof value);
  healthy_kernel<<<1, 1>>>(out);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return value == 1;
}

enum cluster_fault {
  DEADLOCK,
  ONCE_MORE,
  ENDED,
  ENDED_STATIC,
  PAST_THE_END,
  NO_SUCH_RANK,
  COPY,
  GLOBAL,
  ARRIVES_TWICE,
  WAITS_FIRST,
  ENDLESS
};

__global__ void cluster_fault_kernel(cluster_fault kind, int *out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), t = threadIdx.x;
  dynamic[t] = int(t);
  fixed[t] = int(t);
  if (kind == DEADLOCK && rank == 1 && t < 32) __syncthreads();
  cluster.sync();
  if (kind == ONCE_MORE && (rank == 0 || t > 0)) cluster.sync();
  if (kind == ONCE_MORE && rank == 1 && t == 0) __syncthreads();
  if ((kind == ENDED || kind == ENDED_STATIC) && rank == 1) return;
  if (kind == ENDED || kind == ENDED_STATIC) {
    cluster.sync(); // of the block that is left
    out[t] = *cluster.map_shared_rank(kind == ENDED ? &dynamic[t] : &fixed[t], 1);
  }
  if (kind == PAST_THE_END && rank == 0) out[t] = cluster.map_shared_rank(dynamic, 1)[4096];
  if (kind == NO_SUCH_RANK && rank == 0) out[t] = *cluster.map_shared_rank(dynamic, 2);
  if (kind == COPY && rank == 0)
    __pipeline_memcpy_async(cluster.map_shared_rank(&fixed[t], 1), &out[t], sizeof *out);
  if (kind == GLOBAL && rank == 0) out[t] = *cluster.map_shared_rank(out, 1);
  if (kind == ARRIVES_TWICE) cluster.barrier_arrive();
  if (kind == ARRIVES_TWICE) cluster.barrier_arrive();
  if (kind == WAITS_FIRST) cluster.barrier_wait();
  volatile int again = kind == ENDLESS && rank == 1;
  while (again != 0) {
  }
  cluster.sync();
}

static void launch(cluster_fault kind, unsigned cluster = 2) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 64;
  config.dynamicSmemBytes = 64 * sizeof(int);
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, cluster_fault_kernel, kind, device_ints(64));
}

void fault_cluster_deadlock(void) { launch(DEADLOCK); }
void fault_cluster_once_more(void) { launch(ONCE_MORE); }
void fault_cluster_ended(void) { launch(ENDED); }
void fault_cluster_ended_static(void) { launch(ENDED_STATIC); }
void fault_cluster_past_the_end(void) { launch(PAST_THE_END); }
void fault_cluster_no_such_rank(void) { launch(NO_SUCH_RANK); }
void fault_cluster_not_asked_for(void) { launch(NO_SUCH_RANK, 1); }
void fault_cluster_copy(void) { launch(COPY); }
void fault_cluster_global(void) { launch(GLOBAL); }
void fault_cluster_arrives_twice(void) { launch(ARRIVES_TWICE); }
void fault_cluster_waits_first(void) { launch(WAITS_FIRST); }
void fault_cluster_endless(void) { launch(ENDLESS); }
void refused_by_old_gpu(void) { launch(WAITS_FIRST); }
void synced_by_old_gpu(void) { healthy_kernel<<<1, 1>>>(device_ints(1)); }
