#define _GNU_SOURCE
#include "block.h"

#include "device_launch_parameters.h"
#include "fault.h"
#include "grid_barrier.h"
#include "limit.h"
#include "map_place.h"
#include "observer.h"
#include "queue.h"
#include "random.h"
#include "shared_memory.h"
#include "turns.h"

#include <sched.h>

_Thread_local worker *current_worker __attribute__((tls_model("initial-exec")));
__thread const emulator_thread *emulator_current __attribute__((tls_model("initial-exec")));
__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

bool block_is_index(uintptr_t address) {
  return address - (uintptr_t)&threadIdx < sizeof threadIdx ||
         address - (uintptr_t)&blockIdx < sizeof blockIdx ||
         address - (uintptr_t)&blockDim < sizeof blockDim ||
         address - (uintptr_t)&gridDim < sizeof gridDim ||
         address - (uintptr_t)&emulator_current < sizeof emulator_current;
}

// ---- Taking turns -------------------------------------------------------------------------------

static void thread_main(void);

static void start_thread(worker *worker, thread *thread) {
  worker->running = thread;
  emulator_current = &thread->seen;
  threadIdx = thread->seen.thread_index;
}

static void switch_to(worker *worker, fiber *from, thread *next) {
  if (next->stack == NULL) {
    next->stack = stacks_take(&worker->stacks);
    if (next->stack == NULL) {
      emulator_fault(cudaErrorLaunchOutOfResources,
                     "No stack for thread %u: the operating system gives this process no more "
                     "mappings; set EMU_WORKERS to a smaller number",
                     next->index);
    }
    fiber_prepare(&next->stack->context, next->stack->low, FIBER_STACK_BYTES, thread_main);
  }
  start_thread(worker, next);
  worker->counts.fiber_switches++;
  fiber_switch(from, &next->stack->context);
}

// Returns to block_run, which finds out whether the block is done.
static void switch_to_scheduler(worker *worker, fiber *from) {
  emulator_current = NULL;
  fiber_switch(from, &worker->scheduler);
}

void block_wait(worker *worker) {
  thread *self = worker->running;
  warp *warp = warp_of(worker, self);
  history_waits(worker);
  if (--warp->running == 0 && warp->asking != 0) warp_answer_active_masks(worker, warp);
  thread *next = turns_take(worker);
  if (next == self) return;
  if (next != NULL) {
    switch_to(worker, &self->stack->context, next);
  } else {
    switch_to_scheduler(worker, &self->stack->context);
  }
}

void block_ready(worker *worker, thread *thread) {
  history_goes_on(worker, thread);
  thread->state = THREAD_READY;
  warp_of(worker, thread)->running++;
  turns_add(worker, thread);
}

void block_step_aside(worker *worker) {
  thread *self = worker->running;
  turns_add(worker, self);
  thread *next = turns_take(worker);
  if (next != self) switch_to(worker, &self->stack->context, next);
}

void block_give_way(worker *worker) {
  thread *self = worker->running;
  turns_add(worker, self);
  worker->gives_way = true;
  switch_to_scheduler(worker, &self->stack->context);
}

void emulator_yield(void) {
  worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL) return;
  // A loop that polls is hardly ever interrupted in its own code, where the limit's signal would end it (limit.h).
  if (limit_reached(worker)) limit_leave(worker, (uintptr_t)__builtin_return_address(0) - 1);
  warp *warp = warp_of(worker, worker->running);
  // A lane may poll for a value that an asking lane would write; such a lane never begins to wait.
  enum { PATIENCE = 1000 };
  if (warp->asking != 0 && ++warp->impatience > PATIENCE) warp_answer_active_masks(worker, warp);
  // A thread may poll for what another block writes: one that takes turns with its own, or, in a cooperative launch,
  // one of another OS thread, which may wait for a core.
  enum { PATIENCE_WITH_BLOCK = 256 };
  const bool impatient = (worker->polls + 1) % PATIENCE_WITH_BLOCK == 0;
  const bool gives_way = impatient && worker->coresident->size > 1;
  if (impatient && !gives_way && worker->launch->request->cooperative) sched_yield();
  // A thread may poll for what a transfer of another stream writes, which only arrives when no kernel can go on.
  enum { POLLS = 4096 };
  if (++worker->polls % POLLS == 0 && worker->launch->queued) queue_deliver_to_running();
  turns_yield(worker);
  if (gives_way) {
    block_give_way(worker);
  } else {
    block_step_aside(worker);
  }
}

// ---- The barrier --------------------------------------------------------------------------------

static void release_barrier(worker *worker) {
  worker->barrier_result = (emulator_barrier_result){.arrived = worker->barrier_arrived,
                                                     .predicates = worker->barrier_predicates};
  worker->barrier_arrived = 0;
  worker->barrier_predicates = 0;
  worker->counts.block_barriers++;
  observer_barrier_release(worker);
  for (unsigned i = 0; i < worker->thread_count; i++) {
    if (worker->threads[i].state == THREAD_AT_BARRIER) block_ready(worker, &worker->threads[i]);
  }
}

emulator_barrier_result emulator_block_barrier(int predicate, const emulator_site *site) {
  worker *worker = current_worker;
  observer_barrier_arrive(worker, site);
  history_did(worker, site, NULL);
  worker->running->site = site;
  worker->barrier_arrived++;
  worker->barrier_predicates += predicate != 0;
  if (worker->barrier_arrived == worker->alive) {
    release_barrier(worker);
    const emulator_barrier_result result = worker->barrier_result;
    block_step_aside(worker);
    return result;
  }
  worker->running->state = THREAD_AT_BARRIER;
  block_wait(worker);
  // The threads still leave this barrier; the next one needs this thread.
  return worker->barrier_result;
}

// ---- A thread's life ----------------------------------------------------------------------------

static void exit_thread(worker *worker) {
  box_stores_end(worker);
  observer_thread_end(worker);
  thread *self = worker->running;
  self->state = THREAD_EXITED;
  worker->alive--;
  async_copies_end(worker, self);
  warp_lane_exited(worker, self);
  if (worker->barrier_arrived > 0 && worker->barrier_arrived == worker->alive) {
    release_barrier(worker);
  }
  cluster_thread_exited(worker);
}

// Every fiber runs this. If another thread has not yet begun when its own thread exits, that one
// begins here, on the same stack: threads that never wait cost no switch and no stack of their own.
static void thread_main(void) {
  worker *worker = current_worker;
  const emulator_launch_request *request = worker->launch->request;
  for (;;) {
    observer_thread_begin(worker);
    request->body(request->arguments);
    exit_thread(worker);
    thread *self = worker->running;
    thread *next = turns_take(worker);
    fiber_stack *stack = self->stack;
    self->stack = NULL;
    if (next != NULL && next->stack == NULL) {
      next->stack = stack;
      start_thread(worker, next);
      continue;
    }
    // No thread can take this stack before the switch away from it is complete.
    stacks_give_back(&worker->stacks, stack);
    if (next != NULL) {
      switch_to(worker, &stack->context, next);
    } else {
      switch_to_scheduler(worker, &stack->context);
    }
  }
}

// ---- The block ----------------------------------------------------------------------------------

void block_prepare(worker *worker) {
  const emulator_launch_request *request = worker->launch->request;
  const dim3 dim = request->block;
  worker->thread_count = dim.x * dim.y * dim.z;
  worker->block.block_dim = dim;
  worker->block.grid_dim = request->grid;
  blockDim = dim;
  gridDim = request->grid;
  worker->block.cluster_dim = (dim3){1, 1, 1};
  worker->block.cluster_place = (uint3){0, 0, 0};
  worker->block.cluster_rank = 0;
  worker->block.cluster_specified = worker->launch->cluster_specified;
  cluster_of_one(worker);
  worker->shuffled = worker->launch->seed != 0;
  worker->accessing = NULL;
  worker->guessing = NULL;
  worker->gpu = gpu_selected();
  shared_memory_prepare(worker);
  for (unsigned i = 0; i < worker->thread_count; i++) {
    thread *thread = &worker->threads[i];
    thread->seen.thread_index = (uint3){i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
    thread->seen.lane = i % GPU_WARP_LANES;
    thread->seen.block = &worker->block;
    thread->index = i;
    thread->stack = NULL;
  }
}

static void reset_warps(worker *worker) {
  for (unsigned first = 0; first < worker->thread_count; first += GPU_WARP_LANES) {
    const unsigned left = worker->thread_count - first;
    const unsigned lanes = left < GPU_WARP_LANES ? left : GPU_WARP_LANES;
    warp *warp = &worker->warps[first / GPU_WARP_LANES];
    warp->alive = lanes == GPU_WARP_LANES ? ~0u : (1u << lanes) - 1;
    warp->running = lanes;
    warp->asking = 0;
    warp->impatience = 0;
    warp->pending_count = 0;
  }
}

void block_begin(worker *worker, uint64_t number) {
  const launch *launch = worker->launch;
  const dim3 grid = launch->request->grid;
  worker->block.block_index =
      (uint3){(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
              (unsigned)(number / ((uint64_t)grid.x * grid.y))};
  blockIdx = worker->block.block_index;
  worker->gives_way = false;
  worker->alive = worker->alone.missing = worker->thread_count;
  worker->barrier_arrived = 0;
  worker->barrier_predicates = 0;
  worker->random = random_start(launch->seed, launch->number, number);
  turns_begin(worker);
  reset_warps(worker);
  box_copies_begin(worker);
  mbarriers_begin(worker);
  named_barriers_begin(worker);
  products_begin(worker);
  registers_begin(worker);
  history_begin(worker);
  for (unsigned i = 0; i < worker->thread_count; i++) {
    worker->threads[i].state = THREAD_READY;
    worker->threads[i].last_barrier_wait = 0;
    worker->threads[i].cluster_arrived = false;
    map_places_begin(&worker->threads[i]);
    async_copies_begin(&worker->threads[i]);
    box_stores_begin(&worker->threads[i]);
    turns_add(worker, &worker->threads[i]);
  }
  shared_memory_poison(worker);
  worker->counts.blocks++;
  worker->counts.threads += worker->thread_count;
  observer_block_begin(worker, number);
}

bool block_go_on(worker *worker) {
  bool ran = false;
  worker->gives_way = false;
  while (!worker->gives_way) {
    thread *next = turns_take(worker);
    if (next != NULL) {
      ran = true;
      switch_to(worker, &worker->scheduler, next);
    } else if (!box_copies_arrive(worker)) {
      break;
    }
  }
  return ran;
}

void block_end(worker *worker) {
  history_end(worker);
  if (shared_memory_written_behind(worker) != 0) fault_written_behind(worker);
  if (stacks_spilled(&worker->stacks)) fault_stack_spilled(worker);
  aligned_end(worker);
  worker->counts.async_copies_dropped += worker->box_copies.count;
  observer_block_end(worker);
  grid_barrier_block_ended(worker->launch);
}

void block_run(worker *worker, uint64_t number) {
  block_begin(worker, number);
  block_go_on(worker);
  if (worker->alive > 0) fault_deadlock(worker);
  block_end(worker);
}
