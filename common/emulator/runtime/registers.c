// setmaxnreg: a block has registers for as many threads as it
// was launched with, and its warpgroups may redistribute them.
#define _GNU_SOURCE
#include "warpgroup.h"

#include "fault.h"
#include "hopper.h"
#include "plural.h"

enum { REGISTERS_MIN = 24, REGISTERS_MAX = 256, REGISTERS_STEP = 8, REGISTERS_OF_A_THREAD = 255 };

// The registers that __launch_bounds__(threads, 1) lets the compiler use for each thread.
static unsigned at_launch(const worker *worker) {
  const unsigned share = GPU_REGISTERS / worker->thread_count;
  const unsigned most = share < REGISTERS_OF_A_THREAD ? share : REGISTERS_OF_A_THREAD;
  return most / REGISTERS_STEP * REGISTERS_STEP;
}

void registers_begin(worker *worker) {
  for (unsigned i = 0; i * WARPGROUP_THREADS < worker->thread_count; i++) {
    warpgroup *warpgroup = &worker->warpgroups[i];
    warpgroup->registers = at_launch(worker);
    warpgroup->asking = 0;
  }
}

// The registers that belong to no warpgroup, for each of 128 threads.
static unsigned unused(const worker *worker) {
  const unsigned count = worker->thread_count / WARPGROUP_THREADS;
  unsigned left = count * at_launch(worker);
  for (unsigned i = 0; i < count; i++) left -= worker->warpgroups[i].registers;
  return left;
}

// Grants the registers if all of the warpgroup's threads have arrived and there are enough. True if granted.
static bool granted(worker *worker, warpgroup *warpgroup) {
  if (warpgroup->asking < WARPGROUP_THREADS) return false;
  if (warpgroup->asked > warpgroup->registers + unused(worker)) return false;
  warpgroup->registers = warpgroup->asked;
  warpgroup->asking = 0;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    thread *thread = &worker->threads[i];
    if (thread->state == THREAD_AT_REGISTERS && thread->awaited == warpgroup) {
      block_ready(worker, thread);
    }
  }
  return true;
}

static void check(const worker *worker, const warpgroup *warpgroup, unsigned registers, bool more,
                  const emulator_site *site) {
  hopper_check(worker, site);
  if (worker->thread_count % WARPGROUP_THREADS != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: a warpgroup is four warps, and the block has %u thread%s",
                   site->operation, site->file, site->line, worker->thread_count,
                   plural(worker->thread_count));
  }
  if (registers < REGISTERS_MIN || registers > REGISTERS_MAX || registers % REGISTERS_STEP != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: %u registers: give a multiple of %d from %d to %d",
                   site->operation, site->file, site->line, registers, REGISTERS_STEP,
                   REGISTERS_MIN, REGISTERS_MAX);
  }
  if (more ? registers < warpgroup->registers : registers > warpgroup->registers) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the threads have %u registers each, which %u are not %s than",
                   site->operation, site->file, site->line, warpgroup->registers, registers,
                   more ? "more" : "fewer");
  }
  if (warpgroup->asking > 0 && warpgroup->asked != registers) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: threads of one warpgroup ask for %u registers and for %u",
                   site->operation, site->file, site->line, warpgroup->asked, registers);
  }
}

static void change(unsigned registers, bool more, const emulator_site *site) {
  worker *worker = current_worker;
  thread *self = worker->running;
  warpgroup *warpgroup = &worker->warpgroups[self->index / WARPGROUP_THREADS];
  check(worker, warpgroup, registers, more, site);
  warpgroup->asked = registers;
  warpgroup->asking++;
  bool own = false;
  for (unsigned i = 0; i * WARPGROUP_THREADS < worker->thread_count; i++) {
    struct warpgroup *const other = &worker->warpgroups[i];
    if (granted(worker, other) && other == warpgroup) own = true;
  }
  if (own) return;
  self->state = THREAD_AT_REGISTERS;
  self->site = site;
  self->awaited = warpgroup;
  block_wait(worker);
}

void emulator_give_registers(unsigned registers, const emulator_site *site) {
  change(registers, false, site);
}

void emulator_take_registers(unsigned registers, const emulator_site *site) {
  change(registers, true, site);
}
