// How one worker runs one block: the block's threads are fibers that take turns.
#ifndef BLOCK_H
#define BLOCK_H

#include "async_copies.h"
#include "box_copies.h"
#include "cluster.h"
#include "emulator.h"
#include "gpu.h"
#include "history.h"
#include "launch.h"
#include "stacks.h"
#include "warpgroups.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WARPS_MAX = BLOCK_THREADS_MAX / GPU_WARP_LANES };

typedef enum {
  THREAD_READY,        // in the ready queue, or running
  THREAD_AT_BARRIER,   // waits at the block's barrier
  THREAD_AT_CLUSTER,   // waits at the cluster's barrier, see cluster.c
  THREAD_AT_GRID,      // waits at the grid's barrier for blocks that take turns, see grid_barrier.c
  THREAD_IN_WARP,      // waits for other lanes of its warp
  THREAD_ACTIVE_MASK,  // asked which lanes are active
  THREAD_AT_PHASE,     // waits for a phase of an mbarrier, see mbarrier.c
  THREAD_AT_NUMBER,    // waits at a named barrier, see named_barrier.c
  THREAD_AT_PRODUCTS,  // waits for its warpgroup to start the same products, see products.c
  THREAD_AT_REGISTERS, // waits for its warpgroup, or for registers, see registers.c
  THREAD_EXITED
} thread_state;

typedef struct thread {
  emulator_thread seen; // what kernels see; first member, so that emulator_current leads here
  unsigned index;       // in the block, x fastest
  thread_state state;
  fiber_stack *stack;        // NULL before it first runs and after it has exited
  const emulator_site *site; // where it waits
  unsigned
      mask; // THREAD_IN_WARP: the lanes it waits for; THREAD_ACTIVE_MASK, THREAD_AT_NUMBER: the answer
  void *operand; // THREAD_IN_WARP: its operand
  const void
      *awaited; // THREAD_AT_PHASE and those after it: the barrier, group or warpgroup; else stale
  unsigned awaited_parity;      // THREAD_AT_PHASE: of the phase
  bool cluster_arrived;         // at the cluster's barrier, and has not waited since
  uint64_t cluster_phase;       // in which phase of it
  const uint64_t *last_barrier; // in shared memory, that it has waited for last
  uint64_t last_barrier_wait;   // when, as a known_barrier has it; 0: never
  async_copies copies;
  box_stores stores;
  thread_products products;
  const void *offered;                          // see exchange.c
  uintptr_t grid_constants, grid_constants_end; // on its stack, see map_place.h
} thread;

// A rendezvous: lanes that wait for each other in a warp collective.
typedef struct {
  unsigned mask;
  unsigned arrived;
  emulator_warp_operation operation;
  const emulator_site *site; // of the first to arrive
} rendezvous;

typedef struct {
  unsigned alive;         // lanes that exist and have not exited
  unsigned running;       // how many lanes neither wait nor have exited
  unsigned asking;        // lanes in THREAD_ACTIVE_MASK
  unsigned impatience;    // yields of other lanes while some were asking
  unsigned pending_count; // entries of `pending`
  rendezvous pending[GPU_WARP_LANES];
} warp;

// A named barrier, of bar.sync, bar.arrive and bar.red.
typedef struct {
  unsigned threads; // how many it is for, as the first thread to arrive says
  unsigned arrived;
  bool asks; // whether the threads that have arrived did so with bar.red
  bool any;  // whether one of them gave true
  unsigned lanes[BLOCK_THREADS_MAX / GPU_WARP_LANES];     // of each warp, that have arrived
  emulator_site site[BLOCK_THREADS_MAX / GPU_WARP_LANES]; // where the first of them did
} named_barrier;

// A barrier in shared memory, for reports: how the source calls it, see barriers.h, and when each kind of event
// happened at it last. Times are the block's count of such events; 0 stands for never.
enum { KNOWN_BARRIERS = 64 }; // of a block; further ones are known by their address alone
typedef struct {
  const uint64_t *barrier;
  const char *words;
  const char *file;        // where bytes of this phase were announced last
  int line;                // of that place
  unsigned announced;      // how many bytes; 0: none in this phase
  unsigned arriver;        // the thread that arrived last
  uint64_t arrived;        // when it did
  uint64_t phases;         // how many have ended
  uint64_t ended;          // when the last one did
  uint64_t passed_at_once; // when a wait last returned at once
  bool waited;             // whether any wait has returned
} known_barrier;

enum { NAMED_BARRIERS = 16 }; // PTX ISA 9.0, 9.7.13.1

// A signal that a kernel's instruction raised.
typedef struct {
  int signal;
  uintptr_t address;     // the address that was accessed
  bool no_address;       // the processor does not report the address
  uintptr_t instruction; // the instruction that accessed it
  const char *access;    // "read", "write" or "access"
  bool misaligned;
  uintptr_t stack; // the stack pointer; 0 where it is not known
} signal_record;

// How long a worker has run its block, see limit.h. Blocks are numbered from
// the worker's first one, and the time between two launches counts as a block.
typedef struct {
  pthread_t thread;
  _Atomic uint64_t block;   // the block that it runs
  _Atomic uint64_t overdue; // the block that it must leave
  uint64_t seen;            // the block that limit_look saw last
  double seen_at;           // when, in seconds of the worker's processor time
} worker_watch;

// One of them has all that belongs to a block. Where blocks take turns the worker of the OS thread leads others, one
// for each further block (cluster.c); `lead` is that of the OS thread, which may be the worker itself.
typedef struct worker {
  struct worker *next; // in the list of all
  struct worker *lead;
  cluster *cluster;    // as the kernel sees it: that of the lead, or the block alone
  cluster *coresident; // the blocks that take turns with this one: its cluster's, or the grid's
  cluster alone;       // this block
  cluster led;         // the blocks that this worker leads
  unsigned rank;       // among the blocks that take turns
  uint64_t grid_phase; // of the grid's barrier, in which the block has come to it last
  uint64_t launches_before; // how many launches the pool had seen when this worker was made
  fiber scheduler;          // the worker's own stack
  launch *launch;
  const gpu *gpu; // selected
  emulator_block block;
  unsigned thread_count;
  unsigned alive;
  unsigned barrier_arrived, barrier_predicates;
  emulator_barrier_result barrier_result; // of the last one passed
  thread *running;
  bool shuffled; // ready threads are picked at random
  uint64_t random;
  unsigned ready_head, ready_count; // ring buffer of thread indices
  uint16_t ready[BLOCK_THREADS_MAX];
  warp warps[WARPS_MAX];
  thread threads[BLOCK_THREADS_MAX];
  box_copies box_copies;
  named_barrier named_barriers[NAMED_BARRIERS];
  known_barrier known_barriers[KNOWN_BARRIERS]; // in their order of creation
  unsigned known_barrier_count;
  uint64_t barrier_events; // how many there were in the block
  block_history history;
  warpgroup warpgroups[WARPGROUPS_MAX];
  product_operands product_operands;
  stack_pool stacks;
  char *dynamic_shared_end; // where the guard page begins
  void *static_shared;      // this OS thread's copy for the kernel's module
  parked_memory parked;     // of a block of a cluster
  emulator_counts counts;
  unsigned polls;                 // calls of emulator_yield
  bool gives_way;                 // to the blocks that take turns with it, though threads are ready
  const emulator_site *accessing; // where the runtime accesses a kernel's memory; else NULL
  const void
      *guessing; // whence observed/accesses.c is asked for the first guess of an atomic function
  sigjmp_buf abandoned; // where a lead continues after it leaves a block unfinished
  signal_record signal;
  void *signal_stack; // the stack on which the worker's thread handles signals
  worker_watch watch;
} worker;

// The worker of this OS thread; NULL on host threads.
extern _Thread_local worker *current_worker __attribute__((tls_model("initial-exec")));

// Sets up the state that stays the same for all blocks of the worker's launch.
void block_prepare(worker *worker);

// Runs block number `number` (x fastest) of the worker's launch. Does not return
// when the launch is abandoned meanwhile; it then jumps to worker->lead->abandoned.
void block_run(worker *worker, uint64_t number);

// The parts of block_run, for blocks that take turns. The second runs the block until none of its threads can go on,
// or the block gives way; false when no thread has run. Call the third when all threads have exited.
void block_begin(worker *worker, uint64_t number);
bool block_go_on(worker *worker);
void block_end(worker *worker);

// The running thread has set its state to a waiting one: runs others until it is ready again.
void block_wait(worker *worker);

// Makes a waiting thread ready.
void block_ready(worker *worker, thread *thread);

// Lets the blocks that take turns with this one run before the running thread, which stays ready.
void block_give_way(worker *worker);

// Lets the ready threads run before the running one, which stays ready. A thread that
// has made others ready calls it too, because in thread order it was the last to arrive.
void block_step_aside(worker *worker);

static inline warp *warp_of(worker *worker, const thread *thread) {
  return &worker->warps[thread->index / GPU_WARP_LANES];
}

// Does the address lie in a variable from which a thread reads its place, such as threadIdx?
bool block_is_index(uintptr_t address);

// async_copy.c: call these when a thread begins, and when it exits.
void async_copies_begin(thread *thread);
void async_copies_end(worker *worker, thread *thread);

// box_copy.c: call the first when a block begins. Call the second when no thread can run: it completes the
// oldest copies that a thread waits for, and returns false when there are none. It runs on the scheduler.
void box_copies_begin(worker *worker);
bool box_copies_arrive(worker *worker);
void box_copies_add(box_copies *copies, const box_copy *copy);

// box_store.c: the same for the copies of a thread to tensors. Those that it has not waited for are done when it exits.
void box_stores_begin(thread *thread);
void box_stores_end(worker *worker);

// The bytes of a copy: the part of its box that lies in the tensor.
unsigned box_tensor_bytes(const box_copy *copy);

// Call these when a block begins: named_barrier.c, products.c, registers.c.
void mbarriers_begin(worker *worker);
void named_barriers_begin(worker *worker);
void products_begin(worker *worker);
void registers_begin(worker *worker);

// aligned.c: call it when a block ends. A fault where some threads of a warpgroup have not executed what the others have.
void aligned_end(worker *worker);

// warp.c: call the first when a lane exits, the second when a warp's last running lane begins to wait.
void warp_lane_exited(worker *worker, thread *thread);
void warp_answer_active_masks(worker *worker, warp *warp);

#endif
