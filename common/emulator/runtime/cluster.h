// Clusters: blocks that run at the same time, wait for each other, and reach each other's shared memory.
//
// One worker runs the blocks of a cluster in turns: a block runs until none of its threads can go on, then the next one
// does. Each block has a `worker` struct of its own, with its fibers, barriers, copies and dynamic shared memory, and
// all of them run on the OS thread of the first, the lead. Static shared memory is thread-local to the OS thread; so
// while another block runs, a block's copy of it is parked elsewhere, and there the other blocks reach it.
//
// Under an observer of one worker, all blocks of a cooperative launch take turns in the same way. They are no cluster:
// the kernel sees clusters of one block, and waits for other blocks at the grid's barrier (grid_barrier.c) or by
// polling.
#ifndef CLUSTER_H
#define CLUSTER_H

#include "launch.h"

enum { CLUSTER_BLOCKS_PORTABLE = 8, CLUSTER_BLOCKS_MAX = 16 };

struct worker;
struct thread;

typedef struct cluster {
  unsigned size;                             // blocks
  struct worker *blocks[CLUSTER_BLOCKS_MAX]; // by rank; kept from launch to launch
  unsigned missing; // threads that have neither come to the barrier in this phase nor exited
  uint64_t phase;   // how many phases are over
} cluster;

// Where a block's static shared memory is while the block does not run.
typedef struct {
  char *mapped; // NULL: nothing
  size_t room;
  char *start;
  bool ended; // the block has, and its shared memory must not be accessed any more
} parked_memory;

// Number of the block (x fastest) of that rank in that cluster (x fastest as well).
uint64_t cluster_block_number(const launch *launch, uint64_t cluster, unsigned rank);

// Makes the lead's further workers and prepares them for its launch. False when memory has run out.
bool cluster_prepare(struct worker *lead, unsigned leads);

// Runs the blocks of the lead's cluster of that number. Like block_run it may not return.
void cluster_run(struct worker *lead, uint64_t number);

// The block is all of its cluster, and takes turns with no other one.
void cluster_of_one(struct worker *block);

// For all blocks of the lead, after it has left them unfinished.
void cluster_abandon(struct worker *lead);

// The running thread has exited.
void cluster_thread_exited(struct worker *worker);

// The block of the worker's cluster in whose shared memory, or in the guard behind it, the address is. NULL: none.
struct worker *cluster_owner(const struct worker *worker, const void *address);

// The address that the block itself has for what the worker's block reaches at `mapped`, in shared memory of that block.
void *cluster_own_address(const struct worker *worker, const struct worker *block,
                          const void *mapped);

// Where that block's static shared memory is for the worker's block, which runs.
char *cluster_static_shared(const struct worker *worker, const struct worker *block);

#endif
