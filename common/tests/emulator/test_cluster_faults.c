// Tests the emulator's reports about kernels that break the rules of clusters.
#define _GNU_SOURCE
#include "cluster_faults.h"
#include "emulator.h"
#include "fault_report.h"

#define FAILURE  cudaErrorLaunchFailure
#define AT(what) what " in common/tests/emulator/cluster_faults.cu:"
#define KERNEL   "cluster_fault_kernel"

static void expect(void (*launch)(void), cudaError_t error, const char *first, const char *second,
                   const char *third, const char *fourth) {
  expect_report(&(fault_case){launch, error, {first, second, third, fourth, "in kernel " KERNEL}});
}

Test(cluster_faults, deadlocks) {
  expect(fault_cluster_deadlock, FAILURE,
         "Deadlock: no thread of the cluster of blocks (0,0,0) to (1,0,0) can go on\n"
         "=========     in block (0,0,0):\n"
         "=========     threads 0-63 (warps 0-1) wait at cluster.sync() in ",
         "in block (1,0,0):\n=========     threads 0-31 (warp 0) wait at __syncthreads() in ",
         "threads 32-63 (warp 1) wait at cluster.sync() in ",
         "hint: cluster.sync() is for all threads of all blocks of the cluster");
  expect(fault_cluster_once_more, FAILURE, "in block (0,0,0):\n", "wait at cluster.sync()",
         "in block (1,0,0):\n", "thread 0 (warp 0) waits at __syncthreads()");
}

Test(cluster_faults, shared_memory) {
  expect(fault_cluster_ended, FAILURE,
         "Invalid __shared__ read: block (1,0,0), whose shared memory it is, has ended\n",
         "at cluster_fault_kernel in", "in block (0,0,0)",
         "hint: a block must not end while others use its shared memory: cluster.sync()");
  expect(fault_cluster_ended_static, FAILURE,
         "Invalid __shared__ read: block (1,0,0), whose shared memory it is, has ended\n",
         "in block (0,0,0)", "hint: a block must not end", NULL);
  expect(fault_cluster_past_the_end, FAILURE,
         "Invalid __shared__ read: 16128 bytes past the end of the dynamic shared memory of block "
         "(1,0,0) (256 bytes asked for at the launch)\n",
         "at cluster_fault_kernel in", "in block (0,0,0)", NULL);
  expect(fault_cluster_no_such_rank, FAILURE, AT("cluster.map_shared_rank()"),
         "the cluster has no block of rank 2: its 2 blocks have the ranks from 0 on",
         "in block (0,0,0)", NULL);
  expect(fault_cluster_not_asked_for, FAILURE, AT("cluster.map_shared_rank()"),
         "there is no block of rank 2, because each block is a cluster of its own",
         "without cudaLaunchAttributeClusterDimension", NULL);
  expect(fault_cluster_copy, cudaErrorIllegalAddress,
         "Invalid destination of __pipeline_memcpy_async(): it must be in the block's own shared "
         "memory\n",
         "in block (0,0,0): it is in that of block (1,0,0) of the cluster\n", NULL, NULL);
  expect(fault_cluster_global, cudaErrorInvalidAddressSpace, AT("cluster.map_shared_rank()"),
         "the pointer is not to shared memory but to byte 0 of an allocation of 256 bytes", NULL,
         NULL);
}

Test(cluster_faults, barrier_in_two_parts) {
  expect(fault_cluster_arrives_twice, FAILURE, AT("cluster.barrier_arrive()"),
         "the thread arrives at the cluster's barrier a second time", "call barrier_wait()", NULL);
  expect(fault_cluster_waits_first, FAILURE, AT("cluster.barrier_wait()"),
         "the thread waits at the cluster's barrier and has not arrived there", NULL, NULL);
}

Test(cluster_faults, endless) {
  setenv("LAB_LIMIT", "0.5", 1);
  expect(fault_cluster_endless, cudaErrorLaunchTimeout, "Launch timed out: block (1,0,0) has run",
         "at cluster_fault_kernel in", "in block (1,0,0)", NULL);
}

Test(cluster_faults, old_gpu) {
  setenv("EMU_GPU", "a100", 1);
  char *report = stderr_of(refused_by_old_gpu);
  cr_assert_not_null(strstr(report, "Launch of " KERNEL ": the Emulated NVIDIA A100-SXM4-80GB has "
                                    "compute capability 8.0, and clusters came with 9.0: set "
                                    "EMU_GPU to h200"),
                     "%s", report);
  cr_assert_eq(cudaGetLastError(), cudaErrorNotSupported);
  free(report);
  report = stderr_of(synced_by_old_gpu);
  cr_assert_not_null(strstr(report, "the Emulated NVIDIA A100-SXM4-80GB has compute capability "
                                    "8.0, and clusters came with 9.0"),
                     "%s", report);
  cr_assert_eq(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  free(report);
}
