// A worker's stacks for fibers: each with a guard page below it, all in one reservation of address
// space that the worker keeps. A stack costs memory only once a fiber has used it.
#ifndef STACKS_H
#define STACKS_H

#include "fiber.h"
#include <stdbool.h>
#include <stdint.h>

enum {
  BLOCK_THREADS_MAX = 1024,
  FIBER_STACK_BYTES = 64 * 1024,
  // Stacks begin at different distances from a page's start, this much at most: the lines that
  // waiting fibers have just used then lie in different sets of the processor's caches.
  FIBER_STACK_STAGGER_BYTES = 4 * 1024
};

typedef struct {
  fiber context;
  char *low; // FIBER_STACK_BYTES from here; the guard page lies below
} fiber_stack;

typedef struct {
  char *region;      // BLOCK_THREADS_MAX times (guard page, stack)
  size_t slot_bytes; // of one guard page and its stack
  unsigned opened;   // stacks that are readable and writable by now
  bool joined;       // the guard pages are writable too
  unsigned free_count;
  fiber_stack *free[BLOCK_THREADS_MAX]; // last in, first out: the warmest in the cache
  fiber_stack stacks[BLOCK_THREADS_MAX];
} stack_pool;

// Reserves the address space. False when there is none.
bool stacks_create(stack_pool *pool);

// NULL when the operating system gives no more (see vm.max_map_count).
fiber_stack *stacks_take(stack_pool *pool);
void stacks_give_back(stack_pool *pool, fiber_stack *stack);

// Takes all stacks back, also those in use, because the fibers of an abandoned block never return theirs.
void stacks_give_back_all(stack_pool *pool);

// Makes one mapping of all stacks and their guard pages. Each stack with a guard takes two of the mappings of which the
// operating system gives a process only some ten thousand (vm.max_map_count), and a cooperative launch has a worker
// for each block. False when that fails.
bool stacks_join(stack_pool *pool);

// Whether a fiber has written into a guard page since the last call, after stacks_join.
bool stacks_spilled(stack_pool *pool);

// Whether the address is in one of the stacks or guard pages, or where a stack is not used yet.
bool stacks_hold(const stack_pool *pool, uintptr_t address);

#endif
