// Kernels that break the rules of clusters, for test_cluster_faults.c. Only the emulator runs them.
#ifndef CLUSTER_FAULTS_H
#define CLUSTER_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool healthy_launch(void);

// Each launches a cluster of 2 blocks of 64 threads.
void fault_cluster_deadlock(
    void); // block 1 waits at __syncthreads() for the half that waits for the cluster
void fault_cluster_once_more(
    void); // block 0 comes to the barrier once more than a thread of block 1 does
void fault_cluster_ended(void); // block 0 reads dynamic shared memory of block 1, which has ended
void fault_cluster_ended_static(void);  // the same of static shared memory
void fault_cluster_past_the_end(void);  // a read far behind the other block's dynamic shared memory
void fault_cluster_no_such_rank(void);  // rank 2
void fault_cluster_not_asked_for(void); // rank 2 in a launch without clusters
void fault_cluster_copy(void);          // an asynchronous copy to the other block
void fault_cluster_global(void);        // maps a pointer to device memory
void fault_cluster_arrives_twice(void); // without a wait
void fault_cluster_waits_first(void);   // without an arrival
void fault_cluster_endless(void);       // block 1 never ends
void refused_by_old_gpu(void);          // a launch with EMU_GPU=a100
void synced_by_old_gpu(void);           // without clusters, of a kernel with cluster.sync()

#ifdef __cplusplus
}
#endif
#endif
