#define _GNU_SOURCE
#include "accesses.h"

#include "clusters.h"
#include "host.h"
#include "limit.h"
#include "memory.h"
#include "numeric/poison.h"
#include "places.h"
#include "roles.h"
#include "transfer.h"

#include <stdio.h>
#include <string.h>

// ---- Findings -----------------------------------------------------------------------------------

static uint64_t running_block(const worker *worker) {
  const uint3 at = worker->block.block_index;
  const dim3 grid = worker->block.grid_dim;
  return at.x + (uint64_t)grid.x * (at.y + (uint64_t)grid.y * at.z);
}

finding_party access_party(const checked_access *access) {
  return (finding_party){.place = access->place,
                         .thread = (uint16_t)access->thread,
                         .block = running_block(access->worker),
                         .kind = access->kind,
                         .bytes = (unsigned)access->bytes};
}

finding_party access_past_party(const past_access *past) {
  const bool earlier = !order_in_running_launch(past->stamp);
  return (finding_party){.place = past->place,
                         .thread = (uint16_t)order_thread_of(past),
                         .earlier = earlier,
                         .block = earlier ? UINT64_MAX : order_block_number(past),
                         .kind = past->kind,
                         .bytes = past->bytes};
}

void access_describe(finding *found, const void *address) {
  found->detail = address_describe(current_worker, address);
}

finding access_finding(const checked_access *access, finding_kind kind, const char *hint) {
  return (finding){.kind = kind,
                   .space = address_space_of(access->worker, (const void *)access->address),
                   .party = {access_party(access)},
                   .parties = 1,
                   .hint = hint};
}

// ---- Reads of uninitialised memory --------------------------------------------------------------

// Whether bytes that no store has been seen of hold what memory begins with. g++ does not tell of a store that a call makes
// by itself, as in `tile[i] = row_of(in)` where the result is a struct. Such a store leaves other bytes.
static bool never_written(const uint8_t *written, const uint8_t *bytes, size_t count) {
  const bool zeros = memory_begins_at_zero();
  for (size_t i = 0; i < count; i++) {
    if (!written[i] && !poison_has_byte(bytes[i]) && !(zeros && bytes[i] == 0)) return false;
  }
  return true;
}

// The same for memory that the host writes unseen, where a byte of what memory begins with says little: 255 is one. So all
// of the access must be as it was, in whole words.
static bool as_it_began(uintptr_t address, size_t bytes) {
  const uint32_t expected = poison_bits(POISON_DEVICE) * UINT32_C(0x10001);
  for (uintptr_t at = address & ~(uintptr_t)3; at < address + bytes; at += 4)
    if (*(const uint32_t *)at != expected) return false;
  return true;
}

// Whether the bytes that were never written can be padding, which a copy of a struct reads as well: each gap stands behind
// a member, and ends where a larger number than the gap has room for may begin. The one at the end comes of the alignment
// of the struct, of which its size is a multiple. g++ reads a struct of 8 or 16 bytes as it reads a number; there only
// gaps of one or three bytes count, as behind a bool, because a gap of two may be a half.
static bool may_be_padding(const checked_access *access, const uint8_t *written) {
  size_t end = 0;
  while (end < access->bytes) {
    const size_t start = end;
    while (end < access->bytes && !written[end]) end++;
    const size_t gap = end - start;
    size_t alignment = 1;
    while (alignment <= gap) alignment *= 2;
    const bool fits = access->of_struct ? alignment <= 16 : gap % 2 == 1 && alignment <= 4;
    const bool ends = end == access->bytes && access->bytes % alignment != 0;
    if (gap > 0 && (start == 0 || !fits || ends || (access->address + end) % alignment != 0))
      return false;
    while (end < access->bytes && written[end]) end++;
  }
  return access->of_struct || access->bytes >= 8;
}

static const char *what_is_missing(const shadow_region *region) {
  if (region->kind != SHADOW_DEVICE) return "no thread of the block has written here yet";
  return region->host_writes
             ? "CUDA promises no zeros in managed memory, and "
               "neither the host nor a kernel has written here"
             : "cudaMalloc does not clear memory: no kernel, copy or cudaMemset has written here";
}

// A product may read uninitialised memory if its result is not used; the NaN that it gives would show.
static void check_written(const checked_access *access, const shadow_region *region) {
  uint8_t *written = region->written;
  if (written == NULL || access->kind == OBSERVED_PRODUCT_READ) return;
  written += access->address - region->start;
  if (access->kind == OBSERVED_ATOMIC_STORE ||
      (access_writes(access->kind) && !access_is_atomic(access->kind))) {
    memset(written, 1, access->bytes);
    return;
  }
  if (memchr(written, 0, access->bytes) == NULL) return;
  if (may_be_padding(access, written)) return;
  if (region->host_writes
          ? as_it_began(access->address, access->bytes)
          : never_written(written, (const uint8_t *)access->address, access->bytes)) {
    finding found = access_finding(access, FINDING_UNINITIALISED, what_is_missing(region));
    findings_add(&found, access_describe, (const void *)access->address);
  }
  memset(written, 1, access->bytes); // report it once only
}

// ---- Transfers under way ------------------------------------------------------------------------

static void describe_transfer(finding *found, const void *address) {
  const finding_party *access = &found->party[1];
  const flight *flight =
      flight_find((uintptr_t)address, access->bytes, access_writes(access->kind));
  access_describe(found, address);
  const size_t length = strlen(found->detail.text);
  snprintf(found->detail.text + length, sizeof found->detail.text - length, ", which %s still %s",
           flight->call.name, flight->writes ? "writes" : "reads");
}

// Whether a transfer of the host's streams still reads or writes the memory (transfer.h). An atomic operation may poll.
static bool check_transfers(const checked_access *access) {
  if (access_is_atomic(access->kind)) return false;
  const flight *flight = flight_find(access->address, access->bytes, access_writes(access->kind));
  if (flight == NULL) return false;
  finding found = access_finding(
      access, FINDING_TRANSFER,
      "the kernel's stream does not wait for the transfer: cudaEventRecord() behind the transfer "
      "and cudaStreamWaitEvent() before the kernel order them, or the same stream");
  found.party[1] = found.party[0];
  found.party[0] = (finding_party){.place = place_of_code(flight->call.code)};
  found.parties = 2;
  findings_add(&found, describe_transfer, (const void *)access->address);
  return true;
}

// ---- The check ----------------------------------------------------------------------------------

// The region that holds the access. Leaves the launch when there is none.
static shadow_region *region_of(const checked_access *access) {
  const uintptr_t address = access->address;
  shadow_region *shared = regions_dynamic_shared();
  if (address - shared->start < shared->bytes) {
    if (address - shared->start + access->bytes > shared->bytes) access_outside(access);
    return shared;
  }
  shared = regions_static_shared();
  if (address - shared->start < shared->bytes) {
    if (!regions_in_shared_variable(address - shared->start, access->bytes)) access_outside(access);
    return shared;
  }
  shadow_region *region = clusters_region_of(access);
  if (region != NULL) return region;
  region = regions_find(address);
  if (region == NULL || address - region->start + access->bytes > region->bytes)
    access_outside(access);
  if (region->kind == SHADOW_CONSTANT && access_writes(access->kind)) access_outside(access);
  return region;
}

void access_check(const checked_access *access) {
  shadow_region *region = region_of(access);
  access_check_alignment(access);
  if (region->kind == SHADOW_CONSTANT || check_transfers(access)) return;
  check_written(access, region);
  access_check_races(access, region);
}

// ---- From the observer --------------------------------------------------------------------------

static inline bool lies_in(uintptr_t address, const void *start, size_t bytes) {
  return address - (uintptr_t)start < bytes;
}

static bool is_on_stack(const worker *worker, uintptr_t address) {
  const stack_pool *stacks = &worker->stacks;
  return lies_in(address, stacks->region, stacks->slot_bytes * BLOCK_THREADS_MAX);
}

// These are locals, the kernel's arguments, and the memory from which threadIdx and others are read.
static bool is_private(const worker *worker, uintptr_t address) {
  const emulator_launch_request *request = worker->launch->request;
  return is_on_stack(worker, address) || lies_in(address, worker, sizeof *worker) ||
         block_is_index(address) || lies_in(address, request->arguments, request->arguments_bytes);
}

static bool is_multiplying(const thread *thread) {
  const thread_products *products = &thread->products;
  return products->group > products->waited || products->started > 0;
}

static __attribute__((noinline)) void look_at(worker *worker, uintptr_t address, size_t bytes,
                                              observed_kind kind, const void *pc) {
  // A loop that polls memory spends nearly all its time in here, where the limit's signal does not end it (limit.h).
  if (limit_reached(worker)) limit_leave(worker, (uintptr_t)pc - 1);
  const bool private = is_private(worker, address);
  if (private && is_on_stack(worker, address)) {
    fences_note_use(worker, address, bytes, access_writes(kind), pc);
  }
  if (private && !is_multiplying(worker->running)) return;
  const checked_access access = {.worker = worker,
                                 .thread = worker->running->index,
                                 .actor = worker->running->index,
                                 .address = address,
                                 .bytes = bytes,
                                 .kind = kind == OBSERVED_STRUCT_READ ? OBSERVED_READ : kind,
                                 .of_struct = kind == OBSERVED_STRUCT_READ,
                                 .place = place_of_code(pc)};
  if (private) {
    products_check_registers(&access);
  } else {
    access_check(&access);
  }
}

// Most accesses are to locals of threads that have to do with no product: these return at once.
void observer_access(uintptr_t address, size_t bytes, observed_kind kind, const void *pc) {
  worker *worker = current_worker;
  if (worker == NULL) host_access(address, bytes, kind, pc);
  if (worker == NULL || emulator_current == NULL) return;
  if (is_on_stack(worker, address) && !fences_any(worker->running) &&
      !is_multiplying(worker->running))
    return;
  look_at(worker, address, bytes, kind, pc);
}

void observer_library_access(worker *worker, thread *thread, const void *address, size_t bytes,
                             observed_kind kind, const emulator_site *site) {
  if (bytes == 0 || is_private(worker, (uintptr_t)address)) return;
  const checked_access access = {.worker = worker,
                                 .thread = thread->index,
                                 .actor = thread->index,
                                 .address = (uintptr_t)address,
                                 .bytes = bytes,
                                 .kind = kind,
                                 .place = place_of_site(site)};
  access_check(&access);
}
