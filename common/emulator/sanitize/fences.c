// wgmma.fence: a thread must execute it between an access to registers and a product
// that has them as D or A, and once before its first product. Consecutive products
// on the same D need none between them (PTX ISA 9.0, 9.7.15.7.1, "wgmma.fence").
//
// A thread's registers are its arrays, which lie on its stack. For each 4 bytes of stack
// the sanitizer records which thread accessed them last, and after which of its fences.
#define _GNU_SOURCE
#include "roles.h"

#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
  const void *pc;
  uint32_t fence; // number of the thread's last fence at that time
  bool write;
} register_use;

enum { REGISTER_BYTES = 4 };

static register_use *uses; // for the worker's stacks, of which a block uses little
static uint32_t fences;    // so far, of all threads
uint32_t fences_last_of[CLUSTER_BLOCKS_MAX][BLOCK_THREADS_MAX];

void fences_forget(void) { memset(fences_last_of[order_rank()], 0, sizeof *fences_last_of); }

static register_use *use_of(const worker *worker, uintptr_t address) {
  const stack_pool *stacks = &worker->stacks;
  if (uses == NULL) {
    const size_t count = stacks->slot_bytes * BLOCK_THREADS_MAX / REGISTER_BYTES;
    uses = mmap(NULL, count * sizeof *uses, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (uses == MAP_FAILED) {
      fprintf(stderr, "error: the sanitizer gets no memory to remember the use of registers in\n");
      exit(2);
    }
  }
  return &uses[(address - (uintptr_t)stacks->region) / REGISTER_BYTES];
}

void observer_register_fence(worker *worker) {
  fences_last_of[order_rank()][worker->running->index] = ++fences;
}

void fences_note_use(worker *worker, uintptr_t address, size_t bytes, bool write, const void *pc) {
  const uint32_t fence = fences_last_of[order_rank()][worker->running->index];
  if (fence == 0) return; // the first product will be reported
  for (size_t i = 0; i < bytes; i += REGISTER_BYTES)
    *use_of(worker, address + i) = (register_use){.pc = pc, .fence = fence, .write = write};
}

// Adds a finding, and returns true, if the product has registers used since the thread's last fence.
static bool check_registers(worker *worker, const void *registers, unsigned count,
                            const checked_access *product) {
  for (unsigned i = 0; i < count; i++) {
    const uintptr_t address = (uintptr_t)registers + i * REGISTER_BYTES;
    const register_use *use = use_of(worker, address);
    if (use->fence != fences_last_of[order_rank()][product->thread]) continue;
    const checked_access access = {.worker = worker,
                                   .thread = product->thread,
                                   .kind = use->write ? OBSERVED_WRITE : OBSERVED_READ,
                                   .bytes = REGISTER_BYTES,
                                   .place = place_of_code(use->pc)};
    finding found = {.kind = FINDING_FENCE,
                     .space = ADDRESS_LOCAL,
                     .party = {access_party(&access), access_party(product)},
                     .parties = 2,
                     .hint = "wgmma_fence() between the two is missing: without it the product may "
                             "read or overwrite the registers too early"};
    findings_add(&found, NULL, NULL);
    return true;
  }
  return false;
}

void observer_product_registers(worker *worker, const emulator_warpgroup_product *product,
                                const emulator_site *site) {
  const checked_access access = {.worker = worker,
                                 .thread = worker->running->index,
                                 .kind = OBSERVED_PRODUCT_READ,
                                 .place = place_of_site(site)};
  if (fences_last_of[order_rank()][access.thread] == 0) {
    finding found = {.kind = FINDING_FENCE,
                     .space = ADDRESS_LOCAL,
                     .party = {access_party(&access)},
                     .parties = 1,
                     .hint = "wgmma_fence() must come before a thread's first product"};
    findings_add(&found, NULL, NULL);
    return;
  }
  if (!check_registers(worker, product->d, product->columns / 2, &access) &&
      product->a_registers != NULL)
    check_registers(worker, product->a_registers, 4, &access);
  products_check_next(&access, product);
}
