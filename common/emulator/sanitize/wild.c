// Accesses outside of all memory, and misaligned vector accesses. The
// kernel cannot continue after them: the launch is left, as on a GPU.
#define _GNU_SOURCE
#include "accesses.h"

#include "runtime/plural.h"
#include "shared_variable.h"

#include <stdio.h>
#include <string.h>

enum { NULL_PAGES = 64 * 1024 };

// ---- Outside of memory --------------------------------------------------------------------------

// Returns how far behind the last `__shared__` array of a block the address is, and whose; SIZE_MAX when it is not near.
static size_t behind_static_shared(uintptr_t address, const worker **owner) {
  enum { NEAR = 1024 };
  const worker *worker = current_worker;
  const size_t bytes = regions_static_shared()->bytes;
  for (unsigned rank = 0; bytes > 0 && rank < worker->cluster->size; rank++) {
    const struct worker *block = worker->cluster->blocks[rank];
    const size_t distance = address - ((uintptr_t)cluster_static_shared(worker, block) + bytes);
    if (distance >= NEAR) continue;
    *owner = block;
    return distance;
  }
  return SIZE_MAX;
}

// The access is not all in one array: names the last one that begins before it.
static void describe_beside_variable(finding *found, const worker *owner, uintptr_t address) {
  const void *kernel = current_worker->launch->request->kernel;
  const size_t offset = address - (uintptr_t)cluster_static_shared(current_worker, owner);
  shared_variable variable;
  for (size_t back = 0; back <= offset; back++) {
    if (!regions_in_shared_variable(offset - back, 1) ||
        !shared_variable_find(kernel, offset - back, &variable))
      continue;
    snprintf(found->detail.text, sizeof found->detail.text,
             "address %.64s + 0x%zx, but the array ends %zu byte%s behind its start", variable.name,
             offset - variable.offset, variable.bytes, plural(variable.bytes));
    return;
  }
}

static void describe_outside(finding *found, const void *pointer) {
  const worker *worker = current_worker;
  const struct worker *owner = cluster_owner(worker, pointer);
  const uintptr_t address = (uintptr_t)pointer;
  char *text = found->detail.text;
  const size_t room = sizeof found->detail.text;
  const size_t behind = behind_static_shared(address, &owner);
  if (behind != SIZE_MAX) {
    snprintf(text, room, "%zu byte%s past the end of the last __shared__ array", behind,
             plural(behind));
  } else if (found->space == ADDRESS_DYNAMIC_SHARED) {
    const size_t asked = worker->launch->request->dynamic_shared_bytes;
    const size_t offset = address - (uintptr_t)owner->block.dynamic_shared;
    const size_t past = offset + found->party[0].bytes - asked;
    snprintf(
        text, room,
        "%zu byte%s past the end of dynamic shared memory (%zu byte%s asked for at the launch)",
        past, plural(past), asked, plural(asked));
  } else if (found->space == ADDRESS_STATIC_SHARED) {
    describe_beside_variable(found, owner, address);
  } else if (address < NULL_PAGES) {
    snprintf(text, room, "address 0x%zx, a null pointer", address);
  } else {
    char place[112];
    memory_describe(address, place, sizeof place);
    snprintf(text, room, "address 0x%zx, %s", address, place);
  }
  const size_t length = strlen(text);
  if (owner == NULL || owner == worker) return;
  const uint3 block = owner->block.block_index;
  snprintf(text + length, room - length, ", in block (%u,%u,%u)", block.x, block.y, block.z);
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

void access_outside(const checked_access *access) {
  finding found = access_finding(access, FINDING_OUT_OF_BOUNDS, NULL);
  const worker *owner;
  if (behind_static_shared(access->address, &owner) != SIZE_MAX)
    found.space = ADDRESS_STATIC_SHARED;
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

void access_check_alignment(const checked_access *access) {
  const size_t bytes = access->bytes;
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 || access->address % bytes == 0) return;
  finding found =
      access_finding(access, FINDING_MISALIGNED,
                     "a row whose length is no multiple of the vector's puts the rows after "
                     "it off the grid: pad rows by whole vectors");
  findings_add(&found, describe_alignment, (const void *)access->address);
  findings_leave(access->worker, cudaErrorMisalignedAddress);
}
