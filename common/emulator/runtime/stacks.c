#define _GNU_SOURCE
#include "stacks.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The bytes by which the stagger grows from stack to stack: whole cache lines, coprime to their number.
enum { STAGGER_STEP = 5 * 64 };

bool stacks_create(stack_pool *pool) {
  const size_t guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
  pool->slot_bytes = guard_bytes + FIBER_STACK_STAGGER_BYTES + FIBER_STACK_BYTES;
  pool->opened = 0;
  pool->joined = false;
  pool->free_count = 0;
  pool->region = mmap(NULL, pool->slot_bytes * BLOCK_THREADS_MAX, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pool->region != MAP_FAILED;
}

fiber_stack *stacks_take(stack_pool *pool) {
  if (pool->free_count > 0) return pool->free[--pool->free_count];
  if (pool->opened == BLOCK_THREADS_MAX) return NULL;
  fiber_stack *stack = &pool->stacks[pool->opened];
  const size_t usable = FIBER_STACK_STAGGER_BYTES + FIBER_STACK_BYTES;
  char *low = pool->region + (pool->opened + 1) * pool->slot_bytes - usable;
  if (!pool->joined && mprotect(low, usable, PROT_READ | PROT_WRITE) != 0) return NULL;
  stack->low = low + pool->opened * STAGGER_STEP % FIBER_STACK_STAGGER_BYTES;
  pool->opened++;
  return stack;
}

void stacks_give_back(stack_pool *pool, fiber_stack *stack) {
  pool->free[pool->free_count++] = stack;
}

void stacks_give_back_all(stack_pool *pool) {
  pool->free_count = 0;
  for (unsigned i = pool->opened; i > 0; i--) stacks_give_back(pool, &pool->stacks[i - 1]);
}

bool stacks_join(stack_pool *pool) {
  if (pool->joined) return true;
  pool->joined =
      mprotect(pool->region, pool->slot_bytes * BLOCK_THREADS_MAX, PROT_READ | PROT_WRITE) == 0;
  return pool->joined;
}

bool stacks_spilled(stack_pool *pool) {
  const size_t guard_bytes = pool->slot_bytes - FIBER_STACK_STAGGER_BYTES - FIBER_STACK_BYTES;
  bool spilled = false;
  for (unsigned i = 0; pool->joined && i < pool->opened; i++) {
    char *guard = pool->region + i * pool->slot_bytes;
    if (guard[0] == 0 && memcmp(guard, guard + 1, guard_bytes - 1) == 0) continue;
    memset(guard, 0, guard_bytes);
    spilled = true;
  }
  return spilled;
}

bool stacks_hold(const stack_pool *pool, uintptr_t address) {
  return address - (uintptr_t)pool->region < pool->slot_bytes * BLOCK_THREADS_MAX;
}
