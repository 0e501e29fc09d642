// Finds accesses to the same memory without an order, and accesses to memory that a copy is still writing.
#define _GNU_SOURCE
#include "accesses.h"

#include "guesses.h"
#include "proxies.h"
#include "sources.h"

#include <string.h>

// Of an access to what a copy writes, whether the reader is too early or the copy.
static const char wait_for_copy[] =
    "each thread that uses what a copy brings must wait for the phase of the barrier that counts "
    "its bytes; if it does: have the bytes been announced, and has its wait the right parity? Or "
    "has the copy started too early, because more arrivals come to the barrier of the empty place "
    "than it is made for?";

// ---- Races --------------------------------------------------------------------------------------

static const char *race_hint(const checked_access *access, const past_access *past, bool shared) {
  if (!order_in_running_launch(past->stamp)) {
    return "the kernel is launched early (cudaLaunchAttributeProgrammaticStreamSerialization), and "
           "the one before it may "
           "still run: each thread must call cudaGridDependencySynchronize() before it uses the "
           "same memory, or meet "
           "a thread that has at __syncthreads()";
  }
  if (shared && !order_in_running_block(past) && order_has_ended(past)) {
    return "a thread has ended, and the barrier of the cluster orders nothing that it has done "
           "since "
           "it came there last: it must come to cluster.sync() before it ends";
  }
  if (shared && !order_in_running_block(past) && order_relaxed_since(past)) {
    return "a relaxed arrival at the barrier of the cluster tells the others nothing of accesses "
           "before it: put __threadfence_cluster() before it, or use __cluster_barrier_arrive()";
  }
  if (shared && !order_in_running_block(past)) {
    return "the blocks of a cluster run at the same time: put cluster.sync() between the two, for "
           "all "
           "threads of the cluster";
  }
  if (!order_in_running_block(past) && order_lacks_release(past) &&
      access_is_atomic(access->kind) != access_is_atomic((observed_kind)past->kind)) {
    return "one of the two is no atomic operation: if they may meet at any time, both must be. If "
           "another atomic operation is to put them in order, __threadfence() must stand before it";
  }
  if (!order_in_running_block(past) && order_lacks_release(past)) {
    return "an atomic operation tells the other blocks nothing of accesses before it, unless "
           "__threadfence() stands between them";
  }
  if (!order_in_running_block(past) && order_lacks_acquire(past)) {
    return "a block that learns by an atomic operation how far another one is may still read what "
           "was there before: put __threadfence() between the operation and the access, or use one "
           "that acquires, such as cuda::atomic_ref has";
  }
  if (!order_in_running_block(past) && access->worker->launch->request->cooperative) {
    return "the blocks of a cooperative launch run at the same time: put grid.sync() between the "
           "two, or an atomic operation of each block, the first one's behind __threadfence()";
  }
  if (!order_in_running_block(past)) {
    return "blocks run in any order and at the same time: give each its own elements, use an "
           "atomic operation, or make two kernels of it";
  }
  if (past->kind == OBSERVED_BOX_WRITE) {
    return wait_for_copy;
  }
  if (access->kind == OBSERVED_BOX_WRITE && past->kind == OBSERVED_PRODUCT_READ) {
    return "the copy may overwrite what a product still reads: before it starts, every warpgroup "
           "must have waited for its product, and then have come to __syncthreads(), or to a "
           "barrier for which the copying thread waits, made for as many arrivals as come in a lap";
  }
  if (access->kind == OBSERVED_BOX_WRITE) {
    return "the copy may overwrite what other threads still use: before it starts, all of them "
           "must have come to __syncthreads(), or to a barrier for which the copying thread waits, "
           "made for as many arrivals as come in a lap";
  }
  if (past->kind == OBSERVED_PRODUCT_READ) {
    return "a product reads its operands until wgmma_wait() is over for its group";
  }
  if (past->kind == OBSERVED_ASYNC_READ) return sources_hint;
  if (past->kind == OBSERVED_ASYNC_WRITE) {
    return "a wait covers the thread's own copies alone: __syncthreads() between the wait and the "
           "reads makes those of all threads visible";
  }
  if (access->kind == OBSERVED_ASYNC_WRITE) {
    return "the copy may overwrite what other threads still use: put __syncthreads() before it "
           "starts";
  }
  const bool one_warp = past->actor / GPU_WARP_LANES == access->thread / GPU_WARP_LANES;
  if (past->kind == OBSERVED_WRITE && access->kind == OBSERVED_WRITE &&
      past->place == access->place) {
    return one_warp
               ? "lanes of a warp write to the same place in one line: let one of them do it, or "
                 "give each an element of its own; if they come there in different rounds of a "
                 "loop, put __syncwarp() between the rounds"
               : "warps write to the same place in one line: let one thread do it, or give each an "
                 "element of its own; if they come there in different rounds of a loop, put "
                 "__syncthreads() between the rounds";
  }
  if (one_warp) {
    return "lanes of a warp do not run in lockstep: put __syncwarp() between the two, or, where "
           "other "
           "warps use the place as well, __syncthreads()";
  }
  if (shared && access->worker->cluster->size > 1) {
    return "warps run in any order: put __syncthreads() between the two, or, where other blocks of "
           "the cluster use the place as well, cluster.sync()";
  }
  return "warps run in any order: put __syncthreads() between the two, or, where a warp has work "
         "of its own, an mbarrier "
         "at which the one arrives and for which the other waits";
}

// Whether the copy that still writes there is in no group yet. memcpy_async() has other waits, which need none.
static bool lacks_commit(const checked_access *access, const past_access *past, uintptr_t address) {
  const worker *worker = access->worker;
  if (past->kind != OBSERVED_ASYNC_WRITE || !order_in_running_block(past) ||
      past->actor >= worker->thread_count)
    return false;
  const async_copies *copies = &worker->threads[past->actor].copies;
  for (unsigned i = copies->count; i-- > 0;) {
    const async_copy *copy = &copies->pending[i];
    if (address - (uintptr_t)copy->destination < copy->bytes)
      return copy->group == copies->committed &&
             strcmp(copy->site.operation, "memcpy_async()") != 0;
  }
  return false;
}

static const char *early_hint(const checked_access *access, const past_access *past,
                              uintptr_t address) {
  if (past->kind == OBSERVED_BOX_WRITE && !access_writes(access->kind)) return wait_for_copy;
  if (lacks_commit(access, past, address))
    return "the copy is in no group yet, and a wait is for groups: __pipeline_commit() must come "
           "behind it, and then __pipeline_wait_prior()";
  if (access_writes(access->kind))
    return "wait for the copy before the place is used for something else";
  return "__pipeline_wait_prior() by the thread that started the copy, and __syncthreads() for the "
         "others, must come first, and __pipeline_wait_prior(n) does not wait for the n newest "
         "groups";
}

// A race is held back as long as it may be that of a guess.
static void report_race(const checked_access *access, finding_kind kind, const past_access *past,
                        bool shared, uintptr_t address) {
  finding found = access_finding(access, kind, race_hint(access, past, shared));
  if (kind == FINDING_EARLY_ACCESS) {
    found.hint = early_hint(access, past, address);
  } else if (kind == FINDING_PROXY && access->kind == OBSERVED_BOX_WRITE) {
    found.hint =
        "threads and the copy engine reach shared memory in different ways, which a barrier "
        "alone does not order: the thread that starts the copy must execute "
        "reads_before_copies() between the barrier and the copy, or each thread that "
        "uses the place must do so before the barrier";
  } else if (kind == FINDING_PROXY) {
    found.hint = "the thread that writes must execute writes_for_wgmma() behind the write and "
                 "before the barrier";
  }
  found.party[1] = found.party[0];
  found.party[0] = access_past_party(past);
  found.parties = 2;
  found.ended = kind == FINDING_RACE && order_missed_barrier(past);
  if (kind == FINDING_RACE && guesses_hold(&found, access, past, address)) return;
  findings_add(&found, access_describe, (const void *)address);
}

// The shared memory of earlier blocks is a different one.
static inline bool races(const past_access *now, unsigned thread, bool shared,
                         const past_access *past) {
  return past->stamp != 0 && (past->part & now->part) != 0 &&
         !(shared && !order_in_running_cluster(past->stamp)) && !order_before(past, thread) &&
         !(shared && past->rank != now->rank && order_before_by_shared_atomics(past, thread));
}

// A product that is ordered after the last write may still read what was there before it.
static inline bool hidden_from_products(const checked_access *access, const past_access *write) {
  return write->stamp != 0 && write->kind != OBSERVED_BOX_WRITE &&
         order_in_running_cluster(write->stamp) && !proxies_fenced(write, access->thread);
}

// A copy that is ordered after an access may still come before it, unless both are of the async proxy.
static inline bool comes_before_copy(const checked_access *copy, const past_access *past) {
  return past->stamp != 0 && past->kind != OBSERVED_BOX_WRITE &&
         past->kind != OBSERVED_PRODUCT_READ && order_in_running_cluster(past->stamp) &&
         !proxies_fenced_before_copy(past, copy->thread);
}

// An access of a thread that a fence.proxy.async must follow before the present one. NULL: there is none.
static const past_access *find_unfenced(const checked_access *access, const shadow_cell *cell) {
  if (access->kind == OBSERVED_PRODUCT_READ)
    return hidden_from_products(access, &cell->write) ? &cell->write : NULL;
  if (access->kind != OBSERVED_BOX_WRITE) return NULL;
  for (unsigned i = 0; i < READS_KEPT; i++) {
    if (comes_before_copy(access, &cell->read[i])) return &cell->read[i];
  }
  return comes_before_copy(access, &cell->write) ? &cell->write : NULL;
}

// A read with which the access, a write, races. Those that may be guesses are reported here, because they may be dropped.
static const past_access *find_read(const checked_access *access, bool shared,
                                    const shadow_cell *cell, const past_access *now,
                                    uintptr_t address) {
  const bool atomic = access_is_atomic(access->kind);
  for (unsigned i = 0; i < READS_KEPT; i++) {
    const past_access *read = &cell->read[i];
    if ((atomic && read->guess == GUESS_MADE) || !races(now, access->thread, shared, read))
      continue;
    if (!atomic || !guesses_is_open(read)) return read;
    report_race(access, FINDING_RACE, read, shared, address);
  }
  return NULL;
}

// Checks the access against the past accesses to one cell, and records it there. `said` is
// the place of the access's last finding: an access to several cells reports each place once.
static void check_cell(const checked_access *access, bool shared, shadow_cell *cell,
                       const past_access *now, uintptr_t address, uint32_t *said) {
  const past_access *last = &cell->write, *unordered = NULL;
  const bool copying = shadow_copying(cell), writes = access_writes(access->kind);
  const bool both_atomic = access_is_atomic(access->kind) && access_is_atomic(last->kind);
  guesses_settle_cell(access, cell);
  if (copying || (!both_atomic && races(now, access->thread, shared, last))) unordered = last;
  if (writes && unordered == NULL) unordered = find_read(access, shared, cell, now, address);
  if (unordered != NULL && unordered->place != *said) {
    *said = unordered->place;
    report_race(access, copying ? FINDING_EARLY_ACCESS : FINDING_RACE, unordered, shared, address);
  }
  const past_access *unfenced = unordered == NULL ? find_unfenced(access, cell) : NULL;
  if (unfenced != NULL && unfenced->place != *said) {
    *said = unfenced->place;
    report_race(access, FINDING_PROXY, unfenced, shared, address);
  }
  if (copying) return; // later accesses must be ordered after the copy itself
  if (!writes) {
    if (!access->again) shadow_keep_read(cell, now);
    return;
  }
  const bool again =
      last->stamp == now->stamp && last->actor == now->actor && last->rank == now->rank;
  const unsigned part = again ? last->part | now->part : now->part;
  // A thread's plain write in front of its own atomic operation stays known, as a read would: an atomic operation of another
  // thread races with it, such as that on a counter which one thread has set to 0 without a barrier behind it.
  if (access_is_atomic(access->kind) && last->stamp != 0 && !access_is_atomic(last->kind) &&
      last->actor == access->actor && order_in_running_block(last))
    shadow_keep_read(cell, last);
  cell->write = *now;
  cell->write.part = part & 3;
  const bool starts_copy =
      access->kind == OBSERVED_ASYNC_WRITE || access->kind == OBSERVED_BOX_WRITE;
  cell->copying = starts_copy ? (uint16_t)(access->actor + 1) : 0;
  // An access that is ordered after the copy is ordered after the reads before it, too. The threads that wait for the
  // copy may not know of these reads, because its thread may have learned of them only after its arrival.
  if (access->kind == OBSERVED_BOX_WRITE) memset(cell->read, 0, sizeof cell->read);
}

void access_check_races(const checked_access *access, shadow_region *region) {
  const bool shared = region->kind == SHADOW_STATIC_SHARED || region->kind == SHADOW_DYNAMIC_SHARED;
  if (access_is_atomic(access->kind)) order_atomic(access->thread, !shared);
  if (!shared && access_writes(access->kind)) sources_last_write = order_now();
  past_access now = {.stamp = order_now(),
                     .place = access->place,
                     .actor = access->actor & 0xFFF,
                     .rank = order_rank() & 0xF,
                     .bytes = access->bytes < 255 ? access->bytes & 0xFF : 255,
                     .kind = access->kind & 0xF,
                     .guess = guesses_may_be(access) ? GUESS_OPEN : GUESS_NONE};
  guesses_settle(access);
  const uintptr_t end = access->address + access->bytes;
  shadow_cell *cell = shadow_cell_of(region, access->address);
  uint32_t said = 0;
  for (uintptr_t at = access->address; at < end; at = at / CELL_BYTES * CELL_BYTES + CELL_BYTES) {
    const bool whole = at % CELL_BYTES == 0 && end - at >= CELL_BYTES;
    now.part = whole ? 3 : 1u << at % CELL_BYTES;
    check_cell(access, shared, cell++, &now, at, &said);
  }
  if (access_is_atomic(access->kind)) order_atomic_done(access->thread);
}
