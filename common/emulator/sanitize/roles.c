// Finds faults between parts of a block: in barriers, box copies, and products of a warpgroup.
#define _GNU_SOURCE
#include "roles.h"

#include "clusters.h"
#include "phases.h"
#include "places.h"

// ---- Barriers -----------------------------------------------------------------------------------

// The block's barriers, which the copy engine may not see yet.
typedef struct {
  const void *barrier;
  unsigned thread; // the thread that initialised it
  uint32_t place;
  uint32_t fence; // stamp of that thread's first fence since; 0: none yet
} hidden_barrier;
static struct hidden_barriers {
  hidden_barrier item[ORDER_BARRIERS_MAX];
  unsigned count;
} hidden[CLUSTER_BLOCKS_MAX]; // by the rank of the block

static struct hidden_barriers *own_hidden(void) { return &hidden[order_rank()]; }

void barriers_forget(void) {
  own_hidden()->count = 0;
  phases_forget();
}

void observer_phase_create(worker *worker, const void *barrier, const emulator_site *site) {
  struct hidden_barriers *own = own_hidden();
  unsigned i = 0;
  while (i < own->count && own->item[i].barrier != barrier) i++;
  if (i == ORDER_BARRIERS_MAX) return;
  if (i == own->count) {
    own->count++;
  } else { // PTX ISA 9.0, 9.7.13.15, "mbarrier.init": undefined
    checked_access creation = {
        .worker = worker, .thread = own->item[i].thread, .place = own->item[i].place};
    finding found = access_finding(&creation, FINDING_BARRIER_AGAIN,
                                   "a barrier is made once, and goes from phase to phase: does an "
                                   "index run past its array?");
    creation.thread = worker->running->index;
    creation.place = place_of_site(site);
    found.party[1] = access_party(&creation);
    found.parties = 2;
    findings_add(&found, access_describe, barrier);
  }
  phases_create(worker, barrier);
  own->item[i] = (hidden_barrier){
      .barrier = barrier, .thread = worker->running->index, .place = place_of_site(site)};
}

void observer_phase_fence(worker *worker) {
  struct hidden_barriers *own = own_hidden();
  const uint32_t fence = order_new_event();
  for (unsigned i = 0; i < own->count; i++) {
    if (own->item[i].thread == worker->running->index && own->item[i].fence == 0)
      own->item[i].fence = fence;
  }
}

static void check_visible(const checked_access *access, const void *barrier) {
  const struct hidden_barriers *own = own_hidden();
  for (unsigned i = 0; i < own->count; i++) {
    const past_access fence = {.stamp = own->item[i].fence,
                               .actor = own->item[i].thread & 0xFFF,
                               .rank = order_rank() & 0xF};
    if (own->item[i].barrier != barrier ||
        (fence.stamp != 0 && order_before(&fence, access->thread)))
      continue;
    const checked_access creation = {
        .worker = access->worker, .thread = own->item[i].thread, .place = own->item[i].place};
    finding found =
        access_finding(access, FINDING_BARRIER_HIDDEN,
                       "barriers_created() by the thread that makes the barrier, and then "
                       "__syncthreads(), before a copy counts on it");
    found.party[1] = found.party[0];
    found.party[0] = access_party(&creation);
    found.parties = 2;
    findings_add(&found, access_describe, barrier);
  }
}

void observer_phase_arrive(worker *worker, const void *barrier, const emulator_site *site) {
  phases_arrive(worker, barrier, site);
  order_arrive(barrier, worker->running->index);
}

void observer_phase_complete(worker *worker, const void *barrier) {
  phases_complete(worker, barrier);
  order_phase_complete(barrier);
}

void observer_phase_wait(worker *worker, const void *barrier) {
  order_waited(barrier, worker->running->index);
  phases_waited(worker, barrier);
}

// ---- Box copies ---------------------------------------------------------------------------------

static checked_access box_access(worker *worker, const box_copy *copy) {
  return (checked_access){.worker = worker,
                          .thread = copy->thread,
                          .actor = order_copy_actor(copy->barrier, copy->thread),
                          .address = (uintptr_t)copy->shared,
                          .bytes = tensor_map_box_bytes(&copy->map),
                          .kind = OBSERVED_BOX_WRITE,
                          .place = place_of_code(copy->code)};
}

void observer_box_start(worker *worker, box_copy *copy) {
  copy->started = order_new_event();
  const checked_access access = box_access(worker, copy);
  check_visible(&access, copy->barrier);
  access_check(&access);
}

void observer_box_done(worker *worker, const box_copy *copy) {
  const checked_access access = box_access(worker, copy);
  access_end_copy(copy->shared, (unsigned)access.bytes, access.actor);
  order_copy_arrived(copy->barrier, copy->thread, copy->started);
}

// Copies that are still under way when the block ends would write into the next block's memory.
void observer_block_end(worker *worker) {
  clusters_block_end(worker);
  for (unsigned i = 0; i < worker->box_copies.count; i++) {
    const box_copy *copy = &worker->box_copies.pending[i];
    const checked_access access = box_access(worker, copy);
    finding found =
        access_finding(&access, FINDING_COPY_NOT_WAITED,
                       "a thread must wait for the phase of the barrier that counts the copy's "
                       "bytes, before the block ends, or the copy should not have been started");
    findings_add(&found, access_describe, copy->shared);
  }
}

// ---- Products -----------------------------------------------------------------------------------

static unsigned warpgroup_number(const worker *worker) {
  return worker->running->index / WARPGROUP_THREADS;
}

void observer_product_read(worker *worker, const void *address, size_t bytes, bool again,
                           const emulator_site *site) {
  const checked_access access = {.worker = worker,
                                 .thread = worker->running->index,
                                 .actor = order_product_actor(warpgroup_number(worker)),
                                 .address = (uintptr_t)address,
                                 .bytes = bytes,
                                 .kind = OBSERVED_PRODUCT_READ,
                                 .again = again,
                                 .place = place_of_site(site)};
  access_check(&access);
}

void observer_group_commit(worker *worker, uint64_t group) {
  order_group_closed(warpgroup_number(worker), group);
}

void observer_group_wait(worker *worker, uint64_t end) {
  order_group_waited(warpgroup_number(worker), end - 1, worker->running->index);
}

// Where one of the 128 threads is, the others are too, so the first one is checked for all.
void products_check_waited(worker *worker) {
  const thread *self = worker->running;
  const thread_products *own = &self->products;
  if (self->index % WARPGROUP_THREADS != 0 || (own->group == own->waited && own->started == 0))
    return;
  const warpgroup *warpgroup = &worker->warpgroups[warpgroup_number(worker)];
  const product_group *group = &warpgroup->groups[own->waited % GROUPS_MAX];
  if (group->count == 0) return; // a group of nothing
  const checked_access access = {.worker = worker,
                                 .thread = self->index,
                                 .kind = OBSERVED_PRODUCT_READ,
                                 .place = place_of_site(&group->products[0].site)};
  finding found = {.kind = FINDING_PRODUCT_NOT_WAITED,
                   .space = ADDRESS_STATIC_SHARED,
                   .party = {access_party(&access)},
                   .parties = 1,
                   .hint = own->group == own->waited
                               ? "the product is in no group: wgmma_commit() is missing behind it"
                               : "wgmma_wait<0>() before the thread ends is missing"};
  findings_add(&found, NULL, NULL);
}

// Whether the access is to registers that the thread has given to
// the product: any access to those of D, or a write to those of A.
static bool uses_registers(const checked_access *access, const warpgroup_product *product) {
  const unsigned rank = access->thread % WARPGROUP_THREADS;
  const uintptr_t d = (uintptr_t)product->sum->d[rank], a = (uintptr_t)product->a[rank];
  return access->address - d < product->sum->columns / 2 * sizeof(float) ||
         (a != 0 && access_writes(access->kind) && access->address - a < 4 * sizeof(unsigned));
}

// Whether the next product of a thread has registers of this one. Only products of the same shape whose D is all the
// same come one after the other (PTX ISA 9.0, 9.7.15.7.1, "wgmma.fence").
static bool shares_registers(const emulator_warpgroup_product *next, unsigned rank,
                             const warpgroup_product *product) {
  const uintptr_t d = (uintptr_t)product->sum->d[rank], a = (uintptr_t)product->a[rank];
  const uintptr_t next_d = (uintptr_t)next->d, next_a = (uintptr_t)next->a_registers;
  const size_t bytes = product->sum->columns / 2 * sizeof(float), a_bytes = 4 * sizeof(unsigned),
               next_bytes = next->columns / 2 * sizeof(float);
  const bool adds = next_d == d && next->columns == product->sum->columns;
  return (!adds && next_d < d + bytes && d < next_d + next_bytes) ||
         (a != 0 && next_d < a + a_bytes && a < next_d + next_bytes) ||
         (next_a != 0 && next_a < d + bytes && d < next_a + a_bytes);
}

// Returns the first product under way of the access's thread that has the registers of the access, or those of the
// product `next`, if it is not NULL. `in_group` receives whether a commit has put it into a group.
static inline __attribute__((always_inline)) const warpgroup_product *
find_user(const checked_access *access, const emulator_warpgroup_product *next, bool *in_group) {
  const thread_products *own = &access->worker->threads[access->thread].products;
  const warpgroup *warpgroup = &access->worker->warpgroups[access->thread / WARPGROUP_THREADS];
  for (uint64_t g = own->waited; g <= own->group; g++) {
    const product_group *group = &warpgroup->groups[g % GROUPS_MAX];
    const unsigned count = g < own->group ? group->count : own->started;
    for (unsigned i = 0; i < count; i++) {
      const warpgroup_product *product = &group->products[i];
      *in_group = g < own->group;
      if (next != NULL ? shares_registers(next, access->thread % WARPGROUP_THREADS, product)
                       : uses_registers(access, product))
        return product;
    }
  }
  return NULL;
}

static void report_registers(const checked_access *access, const warpgroup_product *product,
                             const char *hint) {
  const checked_access party = {.worker = access->worker,
                                .thread = access->thread,
                                .kind = OBSERVED_PRODUCT_READ,
                                .place = place_of_site(&product->site)};
  finding found = access_finding(access, FINDING_REGISTERS, hint);
  found.party[1] = found.party[0];
  found.party[0] = access_party(&party);
  found.parties = 2;
  findings_add(&found, NULL, NULL);
}

void products_check_registers(const checked_access *access) {
  bool in_group;
  const warpgroup_product *product = find_user(access, NULL, &in_group);
  if (product != NULL)
    report_registers(access, product,
                     in_group ? "wgmma_wait() for the product's group must come first"
                              : "the product is in no group yet, and a wait is for groups: "
                                "wgmma_commit() must come behind it, and then wgmma_wait()");
}

void products_check_next(const checked_access *access, const emulator_warpgroup_product *next) {
  bool in_group; // whether it is or not, the two must not be under way together
  const warpgroup_product *product = find_user(access, next, &in_group);
  if (product != NULL)
    report_registers(access, product,
                     "products under way share registers only as one D, all of it and of the same "
                     "shape: otherwise wgmma_wait() for the first one's group must come first");
}
