// Chooses which of a block's ready threads runs next: in the order in which they became ready,
// or shuffled. In count mode (-DEMULATOR_LOCKSTEP) count/lockstep.c uses another order.
#ifndef TURNS_H
#define TURNS_H

#include "block.h"
#include "fault.h"
#include "random.h"

#ifdef EMULATOR_LOCKSTEP
// Call it when a block begins: no thread is ready yet.
void turns_begin(worker *worker);

// The thread is ready to run. It has its turn later, even when it runs now.
void turns_add(worker *worker, const thread *thread);

// NULL when no thread can run. Leaves the block when the launch was abandoned.
thread *turns_take(worker *worker);

// The running thread stays ready, but others have to run before it can go on.
void turns_yield(worker *worker);

#else

static inline void turns_begin(worker *worker) {
  worker->ready_head = 0;
  worker->ready_count = 0;
}

static inline void turns_add(worker *worker, const thread *thread) {
  const unsigned tail = (worker->ready_head + worker->ready_count) % BLOCK_THREADS_MAX;
  worker->ready[tail] = (uint16_t)thread->index;
  worker->ready_count++;
}

static inline thread *turns_take(worker *worker) {
  if (atomic_load_explicit(&worker->launch->abandoned, memory_order_relaxed)) fault_leave(worker);
  if (worker->ready_count == 0) return NULL;
  uint16_t *first = &worker->ready[worker->ready_head];
  if (worker->shuffled) {
    const unsigned picked =
        worker->ready_head + (unsigned)random_below(&worker->random, worker->ready_count);
    uint16_t *other = &worker->ready[picked % BLOCK_THREADS_MAX];
    const uint16_t index = *other;
    *other = *first;
    *first = index;
  }
  worker->ready_head = (worker->ready_head + 1) % BLOCK_THREADS_MAX;
  worker->ready_count--;
  return &worker->threads[*first];
}

// In this order all ready threads run first anyway.
static inline void turns_yield(worker *worker) { (void)worker; }
#endif

#endif
