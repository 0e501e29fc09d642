// The hooks of the count mode, which count the events that the runtime reports.
#define _GNU_SOURCE
#include "observer.h"

#include "links.h"
#include "lockstep.h"
#include "matrix_requests.h"
#include "round.h"
#include "space.h"

// ---- Compiled code ------------------------------------------------------------------------------

// Called at the start of each basic block of kernels, which are compiled with
// -fsanitize-coverage=trace-pc (GCC manual, "Instrumentation Options").
EMULATOR_API void __sanitizer_cov_trace_pc(void) {
  if (emulator_current == NULL) return; // host code
  lockstep_arrive(current_worker, (uintptr_t)__builtin_return_address(0), __builtin_dwarf_cfa());
}

// Returns the widest access by which a structure of `bytes` bytes
// can be copied, whatever its address; float3 is three words.
static unsigned widest_piece(size_t bytes) {
  const size_t power = bytes & -bytes;
  return power < 16 ? (unsigned)power : 16;
}

void observer_access(uintptr_t address, size_t bytes, observed_kind kind, const void *pc) {
  const worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL) return;
  if (kind == OBSERVED_ATOMIC || kind == OBSERVED_ATOMIC_STORE || kind == OBSERVED_COMPARE) return;
  const space space = space_of(worker, address);
  if (space == SPACE_NONE) return;
  if (space == SPACE_GLOBAL && worker->launch->queued) {
    links_access(worker->launch->device, address, bytes, kind == OBSERVED_WRITE);
  }
  const unsigned piece = widest_piece(bytes);
  for (size_t done = 0; done < bytes; done += piece) {
    round_access(origin_of_code(pc), space, kind == OBSERVED_WRITE, address + done, piece);
  }
}

// ---- Library operations -------------------------------------------------------------------------

void observer_async_start(worker *worker, async_copy *copy) {
  const origin where = origin_of_site(&copy->site);
  const unsigned copied = copy->bytes - copy->zeros;
  // A copy of a whole row may end in zeros, but its request is as wide as all others.
  if (copied > 0) {
    if (worker->launch->queued) {
      links_access(worker->launch->device, (uintptr_t)copy->source, copied, false);
    }
    round_access(where, SPACE_GLOBAL, false, (uintptr_t)copy->source, copy->bytes);
    tally_at(where)->value[COUNT_ASYNC_COPY_BYTES] += copied;
  }
  const space space = space_of(worker, (uintptr_t)copy->destination);
  round_access(where, space, true, (uintptr_t)copy->destination, copy->bytes);
}

// Box copies and the reads of products bypass the warp's loads and stores, so only their bytes count.
void observer_box_start(worker *worker, box_copy *copy) {
  if (worker->launch->queued) {
    links_access(worker->launch->device, copy->map.address, box_tensor_bytes(copy), false);
  }
  tally_at(origin_of_code(copy->code))->value[COUNT_ASYNC_COPY_BYTES] += box_tensor_bytes(copy);
}

// The running lane is the last of the warp to arrive. Its operand, a
// matrix_memory_call, is the same as that of all lanes except for their registers.
void observer_matrix_access(worker *worker, const void *memory, unsigned rows, unsigned row_bytes,
                            size_t stride_bytes, observed_kind kind, const emulator_site *site) {
  (void)rows;
  (void)row_bytes;
  (void)stride_bytes;
  (void)kind;
  const space space = space_of(worker, (uintptr_t)memory);
  if (space == SPACE_NONE) return;
  memory_request requests[MATRIX_REQUESTS_MAX];
  const unsigned count = matrix_requests(worker->running->operand, space == SPACE_SHARED, requests);
  for (unsigned i = 0; i < count; i++) round_request(origin_of_site(site), space, &requests[i]);
}

void observer_matrix_rows(worker *worker, const void *const row[32], const emulator_site *site) {
  (void)worker;
  memory_request request = {.lanes = ~0u, .bytes = 16};
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    request.address[lane] = (uintptr_t)row[lane];
  }
  round_request(origin_of_site(site), SPACE_SHARED, &request);
}

void observer_matrix_product(worker *worker, unsigned operations, const emulator_site *site) {
  (void)worker;
  tally_at(origin_of_site(site))->value[COUNT_TENSOR_CORE_OPERATIONS] += operations;
}

// ---- Barriers -----------------------------------------------------------------------------------

// A barrier is counted at the call of the first waiting thread; all threads should be at the same call.
void observer_barrier_release(worker *worker) {
  const emulator_site *site = worker->running->site;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    if (worker->threads[i].state == THREAD_AT_BARRIER) {
      site = worker->threads[i].site;
      break;
    }
  }
  tally_at(origin_of_site(site))->value[COUNT_BLOCK_BARRIERS]++;
}

// The barrier of a cluster counts for each of its blocks, at the first arrival: which threads will end without one is not
// known yet.
void observer_cluster_arrive(worker *worker, const emulator_site *site, bool relaxed) {
  (void)relaxed;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    const thread *it = &worker->threads[i];
    if (it != worker->running && it->cluster_arrived && it->cluster_phase == worker->cluster->phase)
      return;
  }
  tally_at(origin_of_site(site))->value[COUNT_BLOCK_BARRIERS]++;
}

void observer_block_enter(worker *worker) { lockstep_enter(worker); }

// ---- Memory of the device -----------------------------------------------------------------------

void observer_memory_allocated(const memory_allocation *entry) {
  (void)entry;
  space_changed();
}

void observer_memory_freed(const memory_allocation *entry) {
  (void)entry;
  space_changed();
}
