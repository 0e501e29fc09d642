// Faults between the parts of a block.
#ifndef SANITIZE_ROLES_H
#define SANITIZE_ROLES_H

#include "accesses.h"

// Call it when a block begins: it has no barriers yet.
void barriers_forget(void);

// divergence.c: the same for what is known of threads that have missed a barrier of the block.
void divergence_forget(void);

// turns.c: the same for named barriers.
void turns_forget(void);

// The running thread exits: adds a finding when it has started a product and not waited for it.
void products_check_waited(worker *worker);

// The running thread accesses a thread's own memory, where its registers are: adds a finding when they belong
// to a product under way.
void products_check_registers(const checked_access *access);

// The running thread is about to start the product: adds a finding when it has registers of another one under way.
void products_check_next(const checked_access *access, const emulator_warpgroup_product *next);

// fences.c: the number of a thread's last fence, by the rank of its block; 0 where it has none in this block.
extern uint32_t fences_last_of[CLUSTER_BLOCKS_MAX][BLOCK_THREADS_MAX]
    __attribute__((visibility("hidden")));
static inline bool fences_any(const thread *thread) {
  return fences_last_of[order_rank()][thread->index] != 0;
}

// A block begins; the running thread accesses its own memory, where its registers are, at `pc`.
void fences_forget(void);
void fences_note_use(worker *worker, uintptr_t address, size_t bytes, bool write, const void *pc);

#endif
