#define _GNU_SOURCE
#include "mbarrier.h"

#include "address_space.h"
#include "barriers.h"
#include "fault.h"
#include "hopper.h"
#include "known_barriers.h"
#include "observer.h"

#include <stdlib.h>
#include <string.h>

// ---- The word -----------------------------------------------------------------------------------

// Bit 63 is 0 in a barrier; in uninitialised shared memory it is 1.
enum { COUNT_BITS = 20, COUNT_MAX = (1 << COUNT_BITS) - 1, PARITY_BIT = 62, MARK_BIT = 63 };

static mbarrier unpack(uint64_t word) {
  return (mbarrier){.pending = word & COUNT_MAX,
                    .arrivals = word >> COUNT_BITS & COUNT_MAX,
                    .bytes = (int)(word >> 2 * COUNT_BITS & (2 * COUNT_MAX + 1)) - COUNT_MAX,
                    .parity = word >> PARITY_BIT & 1};
}

static uint64_t pack(const mbarrier *barrier) {
  return barrier->pending | (uint64_t)barrier->arrivals << COUNT_BITS |
         (uint64_t)(barrier->bytes + COUNT_MAX) << 2 * COUNT_BITS |
         (uint64_t)barrier->parity << PARITY_BIT;
}

static bool is_barrier(uint64_t word) {
  const mbarrier barrier = unpack(word);
  return word >> MARK_BIT == 0 && barrier.arrivals > 0 && barrier.pending <= barrier.arrivals;
}

// mbarrier.try_wait and expect_tx came with 9.0. cuda::barrier and cuda::pipeline, whose sites have other names, are for
// every GPU from 7.0 on (CUDA C++ Programming Guide, "Asynchronous Barrier").
static void check_gpu(const worker *worker, const emulator_site *site) {
  if (strncmp(site->operation, "mbarrier.", sizeof "mbarrier." - 1) == 0)
    hopper_check(worker, site);
}

static void check_place(const uint64_t *barrier, const emulator_site *site) {
  if (!emulator_is_shared(barrier)) {
    emulator_fault(cudaErrorInvalidAddressSpace,
                   "%s in %s:%d: the barrier is not in shared memory but at %s", site->operation,
                   site->file, site->line, address_describe(current_worker, barrier).text);
  }
  if ((uintptr_t)barrier % sizeof *barrier != 0) {
    emulator_fault(cudaErrorMisalignedAddress,
                   "%s in %s:%d: a barrier must be at a multiple of 8 bytes, not at %s",
                   site->operation, site->file, site->line,
                   address_describe(current_worker, barrier).text);
  }
}

mbarrier mbarrier_read(const uint64_t *barrier, const emulator_site *site) {
  check_place(barrier, site);
  if (!is_barrier(*barrier)) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: there is no barrier at %s: no thread has made one there, or "
                   "something has been written over it",
                   site->operation, site->file, site->line,
                   address_describe(current_worker, barrier).text);
  }
  return unpack(*barrier);
}

mbarrier mbarrier_peek(const uint64_t *barrier) { return unpack(*barrier); }

// ---- Phases -------------------------------------------------------------------------------------

bool mbarrier_awaited(const worker *worker, const uint64_t *barrier) {
  for (unsigned i = 0; i < worker->thread_count; i++) {
    const thread *thread = &worker->threads[i];
    if (thread->state == THREAD_AT_PHASE && thread->awaited == barrier) return true;
  }
  return false;
}

// Writes the barrier back, after ending its phase if nothing is missing. Returns true when the phase ends.
static bool update(worker *worker, uint64_t *barrier, mbarrier *now) {
  const bool complete = now->pending == 0 && now->bytes == 0;
  if (complete) {
    observer_phase_complete(worker, barrier);
    known_barrier_ended(worker, barrier);
    now->pending = now->arrivals;
    now->parity ^= 1;
  }
  *barrier = pack(now);
  for (unsigned i = 0; complete && i < worker->thread_count; i++) {
    thread *thread = &worker->threads[i];
    if (thread->state == THREAD_AT_PHASE && thread->awaited == barrier) {
      block_ready(worker, thread);
    }
  }
  return complete;
}

static void add_bytes(mbarrier *barrier, int bytes, const emulator_site *site) {
  barrier->bytes += bytes;
  if (abs(barrier->bytes) > COUNT_MAX) {
    emulator_fault(cudaErrorLaunchFailure, "%s in %s:%d: a barrier counts up to %d bytes, not %d",
                   site->operation, site->file, site->line, COUNT_MAX, abs(barrier->bytes));
  }
}

bool mbarrier_bytes_arrived(worker *worker, uint64_t *barrier, unsigned bytes,
                            const emulator_site *site) {
  mbarrier now = mbarrier_read(barrier, site);
  add_bytes(&now, -(int)bytes, site);
  return update(worker, barrier, &now);
}

// ---- What threads do ----------------------------------------------------------------------------

void emulator_mbarrier_create(uint64_t *barrier, unsigned arrivals, const char *words,
                              const emulator_site *site) {
  worker *worker = current_worker;
  check_gpu(worker, site);
  check_place(barrier, site);
  if (arrivals == 0 || arrivals > COUNT_MAX) {
    emulator_fault(cudaErrorLaunchFailure, "%s in %s:%d: a barrier is for 1 to %d arrivals, not %u",
                   site->operation, site->file, site->line, COUNT_MAX, arrivals);
  }
  const mbarrier first = {.pending = arrivals, .arrivals = arrivals};
  observer_library_access(worker, worker->running, barrier, sizeof *barrier, OBSERVED_WRITE, site);
  observer_phase_create(worker, barrier, site);
  known_barrier_made(worker, barrier, words);
  *barrier = pack(&first);
}

void emulator_mbarrier_fence(void) {
  observer_phase_fence(current_worker);
  observer_proxy_fence(current_worker);
}

// Another block of the cluster that has the barrier; NULL: none.
static worker *other_owner(worker *worker, const uint64_t *barrier) {
  if (worker->cluster->size == 1 || emulator_is_shared(barrier)) return NULL;
  return cluster_owner(worker, barrier);
}

// An arrival in another block, whose threads wake when the block has its turn.
static void arrive_at_other(worker *owner, uint64_t *barrier, unsigned bytes,
                            const emulator_site *site) {
#ifdef EMULATOR_OBSERVED
  emulator_fault(cudaErrorNotSupported,
                 "%s in %s:%d: sanitize and count know no arrivals at barriers of other blocks: "
                 "run the program without MODE",
                 site->operation, site->file, site->line);
#endif
  mbarrier now = unpack(*barrier);
  if (!is_barrier(*barrier) || now.pending == 0) {
    const uint3 block = owner->block.block_index;
    emulator_fault(cudaErrorLaunchFailure, "%s in %s:%d: %s in block (%u,%u,%u) of the cluster: %s",
                   site->operation, site->file, site->line,
                   now.pending == 0 ? "an arrival too many" : "no barrier", block.x, block.y,
                   block.z,
                   now.pending == 0 ? "all arrivals of the phase have come, but not all bytes"
                                    : "has its thread made one, and a barrier of the cluster "
                                      "stood between?");
  }
  history_did(current_worker, site, NULL);
  add_bytes(&now, (int)bytes, site);
  now.pending--;
  if (now.pending == 0 && now.bytes == 0) {
    known_barrier_ended(owner, cluster_own_address(current_worker, owner, barrier));
    now.pending = now.arrivals;
    now.parity ^= 1;
  }
  *barrier = pack(&now);
}

void emulator_mbarrier_arrive(uint64_t *barrier, unsigned bytes, const emulator_site *site) {
  worker *worker = current_worker;
  check_gpu(worker, site);
  struct worker *other = other_owner(worker, barrier);
  if (other != NULL) {
    arrive_at_other(other, barrier, bytes, site);
    return;
  }
  mbarrier now = mbarrier_read(barrier, site);
  if (now.pending == 0) mbarrier_fault_arrival(worker, barrier, &now, site);
  observer_library_access(worker, worker->running, barrier, sizeof *barrier, OBSERVED_READ, site);
  observer_phase_arrive(worker, barrier, site);
  history_did(worker, site, barrier);
  known_barrier_arrived(worker, barrier, bytes, site);
  add_bytes(&now, (int)bytes, site);
  now.pending--;
  update(worker, barrier, &now);
}

void emulator_mbarrier_wait(uint64_t *barrier, unsigned parity, const emulator_site *site) {
  worker *worker = current_worker;
  check_gpu(worker, site);
  const mbarrier now = mbarrier_read(barrier, site);
  observer_library_access(worker, worker->running, barrier, sizeof *barrier, OBSERVED_READ, site);
  history_did(worker, site, barrier);
  const bool at_once = now.parity != (parity & 1);
  observer_phase_look(worker, barrier, at_once, site);
  if (!at_once) {
    thread *self = worker->running;
    self->state = THREAD_AT_PHASE;
    self->site = site;
    self->awaited = barrier;
    self->awaited_parity = parity & 1;
    block_wait(worker);
  }
  known_barrier_waited(worker, barrier, at_once);
  observer_phase_wait(worker, barrier);
}

bool mbarrier_phase_is_over(const thread *thread) {
  return unpack(*(const uint64_t *)thread->awaited).parity != thread->awaited_parity;
}

unsigned emulator_mbarrier_parity(const uint64_t *barrier, const emulator_site *site) {
  if (other_owner(current_worker, barrier) != NULL) return unpack(*barrier).parity;
  return mbarrier_read(barrier, site).parity;
}
