#include "space.h"

#include "memory.h"

// The allocations that the worker has met last: memory_find() takes a lock and looks through a list.
enum { REMEMBERED = 8 };

static _Atomic unsigned changes;
static _Thread_local struct {
  memory_allocation allocation[REMEMBERED];
  unsigned count, oldest;
  unsigned changes; // when they were found
} remembered;

static bool lies_in(uintptr_t address, uintptr_t start, size_t bytes) {
  return address - start < bytes;
}

void space_changed(void) { atomic_fetch_add(&changes, 1); }

static bool is_global(uintptr_t address) {
  const unsigned now = atomic_load_explicit(&changes, memory_order_relaxed);
  if (remembered.changes != now) {
    remembered.changes = now;
    remembered.count = 0;
    remembered.oldest = 0;
  }
  for (unsigned i = 0; i < remembered.count; i++) {
    const memory_allocation *allocation = &remembered.allocation[i];
    if (lies_in(address, allocation->start, allocation->bytes)) return true;
  }
  memory_allocation found;
  if (!memory_find((const void *)address, &found)) return false;
  remembered.allocation[remembered.oldest] = found;
  remembered.oldest = (remembered.oldest + 1) % REMEMBERED;
  if (remembered.count < REMEMBERED) remembered.count++;
  return true;
}

space space_of(const worker *worker, uintptr_t address) {
  const launch *launch = worker->launch;
  const uintptr_t dynamic = (uintptr_t)worker->block.dynamic_shared;
  if (lies_in(address, dynamic, (uintptr_t)worker->dynamic_shared_end - dynamic) ||
      (worker->static_shared != NULL &&
       lies_in(address, (uintptr_t)worker->static_shared, launch->static_shared_bytes))) {
    return SPACE_SHARED;
  }
  const stack_pool *stacks = &worker->stacks;
  if (lies_in(address, (uintptr_t)worker, sizeof *worker) || block_is_index(address) ||
      lies_in(address, (uintptr_t)stacks->region, stacks->slot_bytes * BLOCK_THREADS_MAX)) {
    return SPACE_NONE;
  }
  return is_global(address) ? SPACE_GLOBAL : SPACE_NONE;
}
