#define _GNU_SOURCE
#include "accesses.h"

#include "places.h"
#include "shared_memory.h"

#include <stdio.h>
#include <string.h>

enum { NULL_PAGES = 64 * 1024 };

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
  return (finding_party){.place = past->place,
                         .thread = past->thread,
                         .block = order_block_number(past->stamp),
                         .kind = past->kind,
                         .bytes = past->bytes};
}

void access_describe(finding *found, const void *address) {
  found->detail = address_describe(current_worker, address);
}

static finding found_in(const checked_access *access, finding_kind kind, const char *hint) {
  return (finding){.kind = kind,
                   .space = address_space_of(access->worker, (const void *)access->address),
                   .party = {access_party(access)},
                   .parties = 1,
                   .hint = hint};
}

// ---- Outside of memory --------------------------------------------------------------------------

static void describe_outside(finding *found, const void *pointer) {
  const worker *worker = current_worker;
  const uintptr_t address = (uintptr_t)pointer;
  char *text = found->detail.text;
  const size_t room = sizeof found->detail.text;
  if (found->space == ADDRESS_DYNAMIC_SHARED) {
    const size_t asked = worker->launch->request->dynamic_shared_bytes;
    const size_t offset = address - (uintptr_t)worker->block.dynamic_shared;
    const unsigned bytes = found->party[0].bytes;
    snprintf(text, room,
             "%zu bytes past the end of dynamic shared memory (%zu bytes asked for at "
             "the launch)",
             offset + bytes - asked, asked);
  } else if (found->space == ADDRESS_STATIC_SHARED) {
    *found = *found;
    found->detail = address_describe(worker, pointer);
    const size_t length = strlen(found->detail.text);
    snprintf(text + length, room - length, ", which is not all in one array");
  } else if (address < NULL_PAGES) {
    snprintf(text, room, "address 0x%zx, a null pointer", address);
  } else {
    char place[112];
    memory_describe(address, place, sizeof place);
    snprintf(text, room, "address 0x%zx, %s", address, place);
  }
}

static const char *outside_hint(const checked_access *access, address_space space) {
  if (space != ADDRESS_GLOBAL) {
    return space == ADDRESS_DYNAMIC_SHARED
               ? "compare the third argument of <<< >>> with the arrays "
                 "that the kernel makes of it"
               : NULL;
  }
  memory_allocation allocation;
  char place[112];
  memory_describe(access->address, place, sizeof place);
  if (strstr(place, "near no") != NULL && access->address >= NULL_PAGES) {
    return "is it a pointer to memory of the host, or one that has never been set?";
  }
  return memory_find((const void *)access->address, &allocation)
             ? "the access begins inside and ends outside"
             : NULL;
}

__attribute__((noreturn)) static void outside(const checked_access *access) {
  finding found = found_in(access, FINDING_OUT_OF_BOUNDS, NULL);
  found.hint = outside_hint(access, found.space);
  findings_add(&found, describe_outside, (const void *)access->address);
  findings_leave(access->worker, cudaErrorIllegalAddress);
}

static void describe_alignment(finding *found, const void *address) {
  found->detail = address_describe(current_worker, address);
  const size_t length = strlen(found->detail.text);
  snprintf(found->detail.text + length, sizeof found->detail.text - length,
           " is not a multiple of %u", found->party[0].bytes);
}

static void check_alignment(const checked_access *access) {
  const size_t bytes = access->bytes;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 || access->address % bytes == 0) return;
  finding found = found_in(access, FINDING_MISALIGNED,
                           "a row whose length is no multiple of the vector's puts the rows after "
                           "it off the grid: pad rows by whole vectors");
  findings_add(&found, describe_alignment, (const void *)access->address);
  findings_leave(access->worker, cudaErrorMisalignedAddress);
}

// ---- Memory nobody has written ------------------------------------------------------------------

static void check_written(const checked_access *access, const shadow_region *region) {
  uint8_t *written = region->written;
  if (written == NULL) return;
  written += access->address - region->start;
  if (access_writes(access->kind) && access->kind != OBSERVED_ATOMIC) {
    memset(written, 1, access->bytes);
    return;
  }
  if (memchr(written, 0, access->bytes) == NULL) return;
  finding found = found_in(access, FINDING_UNINITIALISED,
                           region->kind == SHADOW_DEVICE
                               ? "cudaMalloc does not clear memory: no kernel, copy or cudaMemset "
                                 "has written here"
                               : "no thread of the block has written here yet");
  findings_add(&found, access_describe, (const void *)access->address);
  memset(written, 1, access->bytes); // said once
}

// ---- Races --------------------------------------------------------------------------------------

static const char *race_hint(const checked_access *access, const past_access *past) {
  if (!order_in_running_block(past->stamp)) {
    return "blocks run in any order and at the same time: give each its own elements, use an "
           "atomic "
           "operation, or make two kernels of it";
  }
  if (past->kind == OBSERVED_ASYNC_WRITE) {
    return "a wait covers the thread's own copies alone: __syncthreads() between the wait and the "
           "reads makes everybody's visible";
  }
  if (access->kind == OBSERVED_ASYNC_WRITE) {
    return "the copy may overwrite what other threads still use: put __syncthreads() before it "
           "starts";
  }
  if (past->thread / GPU_WARP_LANES == access->thread / GPU_WARP_LANES) {
    return "lanes of a warp do not run in lockstep: put __syncwarp() between the two";
  }
  return "warps run in any order: put __syncthreads() between the two";
}

static void report_race(const checked_access *access, finding_kind kind, const past_access *past,
                        uintptr_t address) {
  finding found = found_in(access, kind, race_hint(access, past));
  if (kind == FINDING_EARLY_ACCESS) {
    found.hint = access_writes(access->kind)
                     ? "wait for the copy before the place is used for something else"
                     : "__pipeline_wait_prior() by the thread that started the copy, and "
                       "__syncthreads() for the others, must come first";
  }
  found.party[1] = found.party[0];
  found.party[0] = access_past_party(past);
  found.parties = 2;
  findings_add(&found, access_describe, (const void *)address);
}

// Shared memory of blocks that ran before is another one.
static inline bool races(const checked_access *access, bool shared, const past_access *past) {
  return past->stamp != 0 && !(shared && !order_in_running_block(past->stamp)) &&
         !order_before(past, access->thread);
}

static void check_cell(const checked_access *access, bool shared, shadow_cell *cell,
                       const past_access *now, uintptr_t address) {
  const past_access *last = &cell->write;
  if (shadow_copying(cell)) {
    report_race(access, FINDING_EARLY_ACCESS, last, address);
    return;
  }
  const bool both_atomic = access->kind == OBSERVED_ATOMIC && last->kind == OBSERVED_ATOMIC;
  if (!both_atomic && races(access, shared, last)) report_race(access, FINDING_RACE, last, address);
  if (!access_writes(access->kind)) {
    shadow_keep_read(cell, now);
    return;
  }
  for (unsigned i = 0; i < READS_KEPT; i++) {
    if (races(access, shared, &cell->read[i])) {
      report_race(access, FINDING_RACE, &cell->read[i], address);
      break;
    }
  }
  cell->write = *now;
  cell->copying = access->kind == OBSERVED_ASYNC_WRITE ? (uint16_t)(access->thread + 1) : 0;
}

static void check_races(const checked_access *access, shadow_region *region) {
  const bool shared = region->kind == SHADOW_STATIC_SHARED || region->kind == SHADOW_DYNAMIC_SHARED;
  if (access->kind == OBSERVED_ATOMIC) order_atomic(access->thread, !shared);
  const past_access now = {.stamp = order_now(),
                           .place = access->place,
                           .thread = (uint16_t)access->thread,
                           .bytes = (uint8_t)(access->bytes < 255 ? access->bytes : 255),
                           .kind = (uint8_t)access->kind};
  const uintptr_t first = access->address / CELL_BYTES;
  const uintptr_t last = (access->address + access->bytes - 1) / CELL_BYTES;
  shadow_cell *cell = shadow_cell_of(region, access->address);
  for (uintptr_t i = first; i <= last; i++) {
    const uintptr_t address = i > first ? i * CELL_BYTES : access->address;
    check_cell(access, shared, cell++, &now, address);
  }
}

// ---- The check ----------------------------------------------------------------------------------

// The region that holds the access. Leaves the launch when there is none.
static shadow_region *region_of(const checked_access *access) {
  const uintptr_t address = access->address;
  shadow_region *shared = regions_dynamic_shared();
  if (address - shared->start < shared->bytes) {
    if (address - shared->start + access->bytes > shared->bytes) outside(access);
    return shared;
  }
  shared = regions_static_shared();
  if (address - shared->start < shared->bytes) {
    if (!regions_in_shared_variable(address - shared->start, access->bytes)) outside(access);
    return shared;
  }
  shadow_region *region = regions_find(address);
  if (region == NULL || address - region->start + access->bytes > region->bytes) outside(access);
  if (region->kind == SHADOW_CONSTANT && access_writes(access->kind)) outside(access);
  return region;
}

void access_check(const checked_access *access) {
  shadow_region *region = region_of(access);
  check_alignment(access);
  if (region->kind == SHADOW_CONSTANT) return;
  check_written(access, region);
  check_races(access, region);
}

// ---- From the observer --------------------------------------------------------------------------

static inline bool lies_in(uintptr_t address, const void *start, size_t bytes) {
  return address - (uintptr_t)start < bytes;
}

// Locals, the kernel's arguments, and what threadIdx and its like are read from.
static bool is_private(const worker *worker, uintptr_t address) {
  const stack_pool *stacks = &worker->stacks;
  const emulator_launch_request *request = worker->launch->request;
  return lies_in(address, stacks->region, stacks->slot_bytes * BLOCK_THREADS_MAX) ||
         lies_in(address, worker, sizeof *worker) || address == (uintptr_t)&emulator_current ||
         lies_in(address, request->arguments, request->arguments_bytes);
}

void observer_access(uintptr_t address, size_t bytes, observed_kind kind, const void *pc) {
  worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL || is_private(worker, address)) return;
  const checked_access access = {.worker = worker,
                                 .thread = worker->running->index,
                                 .address = address,
                                 .bytes = bytes,
                                 .kind = kind,
                                 .place = place_of_code(pc)};
  access_check(&access);
}

void observer_library_access(worker *worker, thread *thread, const void *address, size_t bytes,
                             observed_kind kind, const emulator_site *site) {
  if (bytes == 0 || is_private(worker, (uintptr_t)address)) return;
  const checked_access access = {.worker = worker,
                                 .thread = thread->index,
                                 .address = (uintptr_t)address,
                                 .bytes = bytes,
                                 .kind = kind,
                                 .place = place_of_site(site)};
  access_check(&access);
}
