// wgmma: the products that a warpgroup starts, commits and waits for.
#define _GNU_SOURCE
#include "warpgroup.h"

#include "fault.h"
#include "hopper.h"
#include "numeric/poison.h"
#include "observer.h"
#include "plural.h"
#include "product_operands.h"

#include <stdlib.h>
#include <string.h>

static warpgroup *warpgroup_of(worker *worker, const thread *thread) {
  return &worker->warpgroups[thread->index / WARPGROUP_THREADS];
}

static unsigned rank_of(const thread *thread) { return thread->index % WARPGROUP_THREADS; }

void products_begin(worker *worker) {
  for (unsigned i = 0; i < worker->thread_count; i++) {
    worker->threads[i].products = (thread_products){0};
  }
  for (unsigned i = 0; i * WARPGROUP_THREADS < worker->thread_count; i++) {
    warpgroup *warpgroup = &worker->warpgroups[i];
    warpgroup->executed = 0;
    aligned_begin(warpgroup);
    for (unsigned g = 0; g < GROUPS_MAX; g++) {
      product_group *group = &warpgroup->groups[g];
      group->count = group->committed = group->waited = 0;
    }
    for (unsigned a = 0; a < ACCUMULATORS_MAX && warpgroup->accumulators[a] != NULL; a++) {
      warpgroup->accumulators[a]->taken = false;
    }
  }
}

// ---- Fragments of D -----------------------------------------------------------------------------

// Where the first of a thread's registers are in the sums: pair i of its registers belongs to row i % 2 * 8
// and column i / 2 * 8 from there.
static float *first_sum(accumulator *sum, unsigned rank) {
  const unsigned lane = rank % GPU_WARP_LANES, row = rank / GPU_WARP_LANES * 16 + lane / 4;
  return &sum->sum[0][0] + (size_t)row * sum->columns + lane % 4 * 2;
}

static void take_registers(accumulator *sum, unsigned rank, bool clear) {
  float *first = first_sum(sum, rank), *d = sum->d[rank];
  for (unsigned i = 0; i < sum->columns / 4 && !clear; i++) {
    memcpy(first + i % 2 * 8 * sum->columns + i / 2 * 8, &d[2 * i], 2 * sizeof *d);
  }
  poison_fill(d, sum->columns / 2 * sizeof *d, POISON_PRODUCT);
}

static void deliver(accumulator *sum, unsigned rank) {
  float *first = first_sum(sum, rank), *d = sum->d[rank];
  for (unsigned i = 0; i < sum->columns / 4; i++) {
    memcpy(&d[2 * i], first + i % 2 * 8 * sum->columns + i / 2 * 8, 2 * sizeof *d);
  }
  sum->d[rank] = NULL;
  if (++sum->delivered == WARPGROUP_THREADS) sum->taken = false;
}

// ---- Starting -----------------------------------------------------------------------------------

// Returns the accumulator that already has the thread's registers `d`, or a free one.
static accumulator *find_accumulator(warpgroup *warpgroup, unsigned rank,
                                     const emulator_warpgroup_product *product,
                                     const emulator_site *site) {
  accumulator **place = NULL;
  for (unsigned i = 0; i < ACCUMULATORS_MAX; i++) {
    accumulator *it = warpgroup->accumulators[i];
    if (it != NULL && it->taken && it->d[rank] == product->d && it->columns == product->columns)
      return it;
    if (place == NULL && (it == NULL || !it->taken)) place = &warpgroup->accumulators[i];
  }
  if (place != NULL && *place == NULL) *place = malloc(sizeof **place);
  if (place == NULL || *place == NULL) {
    emulator_fault(cudaErrorLaunchOutOfResources,
                   "%s in %s:%d: products of %d matrices D are under way: the emulator has no room "
                   "for more",
                   site->operation, site->file, site->line, ACCUMULATORS_MAX);
  }
  accumulator *sum = *place;
  sum->columns = product->columns;
  sum->delivered = 0;
  sum->taken = true;
  memset(sum->d, 0, sizeof sum->d);
  return sum;
}

static void check_product(const worker *worker, const emulator_warpgroup_product *product,
                          const emulator_site *site) {
  const thread *self = worker->running;
  const unsigned first = self->index / WARPGROUP_THREADS * WARPGROUP_THREADS;
  const unsigned last = worker->thread_count - first;
  if (last < WARPGROUP_THREADS) {
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: a warpgroup is four warps, and the block's last one has %u thread%s",
        site->operation, site->file, site->line, last, plural(last));
  }
  if (product->columns == 0 || product->columns > PRODUCT_COLUMNS_MAX ||
      product->columns % 8 != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: D has %u columns: there are products of 8, 16, ... 256",
                   site->operation, site->file, site->line, product->columns);
  }
  if (product->a_registers == NULL)
    product_check_operand(product->a_descriptor, "A", PRODUCT_ROWS, false, site);
  product_check_operand(product->b_descriptor, "B", product->columns, product->transposed, site);
}

// The first thread to start a product decides; the others must start the same one.
static warpgroup_product *enter(warpgroup *warpgroup, product_group *group, const thread *self,
                                const emulator_warpgroup_product *product,
                                const emulator_site *site) {
  check_product(current_worker, product, site);
  if (group->count == group->room) {
    const unsigned room = group->room > 0 ? 2 * group->room : 16;
    warpgroup_product *larger = realloc(group->products, room * sizeof *larger);
    if (larger == NULL) {
      emulator_fault(cudaErrorLaunchOutOfResources, "No memory for a group of %u products", room);
    }
    group->products = larger;
    group->room = room;
  }
  warpgroup_product *entered = &group->products[group->count++];
  entered->first = *product;
  entered->site = *site;
  entered->sum = find_accumulator(warpgroup, rank_of(self), product, site);
  product_announce(product, true, site);
  return entered;
}

static void check_same(const warpgroup_product *entered, const emulator_warpgroup_product *product,
                       const emulator_site *site) {
  const emulator_warpgroup_product *first = &entered->first;
  const char *what = NULL;
  if (site->line != entered->site.line || strcmp(site->file, entered->site.file) != 0) {
    what = "come to another line";
  } else if (product->place != first->place) {
    what = "come to another copy of the line, since the function around it is called in several "
           "places";
  } else if (product->b_descriptor != first->b_descriptor) {
    what = "give another descriptor of B";
  } else if (product->a_descriptor != first->a_descriptor) {
    what = "give another descriptor of A";
  } else if (product->clear != first->clear || product->columns != first->columns ||
             product->element != first->element || product->transposed != first->transposed ||
             (product->a_registers == NULL) != (first->a_registers == NULL)) {
    what = "ask for another product";
  }
  if (what != NULL) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: all threads of a warpgroup must start the same product: others of "
                   "them %s (%s:%d)",
                   site->operation, site->file, site->line, what, entered->site.file,
                   entered->site.line);
  }
}

static product_group *open_group(worker *worker, warpgroup *warpgroup, const emulator_site *site) {
  const thread_products *own = &worker->running->products;
  product_group *group = &warpgroup->groups[own->group % GROUPS_MAX];
  if (own->group >= own->waited + GROUPS_MAX || group->waited > 0) {
    emulator_fault(
        cudaErrorLaunchOutOfResources,
        "%s in %s:%d: the warpgroup has not waited for the last %d groups: the emulator has "
        "no room for more",
        site->operation, site->file, site->line, GROUPS_MAX);
  }
  return group;
}

void emulator_warpgroup_fence(const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  thread *self = worker->running;
  aligned_come(warpgroup_of(worker, self), &self->products, site);
  observer_register_fence(worker);
}

void emulator_proxy_fence(const emulator_site *site) {
  hopper_check(current_worker, site);
  observer_proxy_fence(current_worker);
}

void emulator_warpgroup_multiply(const emulator_warpgroup_product *product,
                                 const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  thread *self = worker->running;
  warpgroup *warpgroup = warpgroup_of(worker, self);
  product_group *group = open_group(worker, warpgroup, site);
  observer_product_registers(worker, product, site);
  history_did(worker, site, NULL);
  const unsigned rank = rank_of(self), index = self->products.started++;
  warpgroup_product *entered = index < group->count ? &group->products[index] : NULL;
  if (entered != NULL) {
    check_same(entered, product, site);
    product_announce(product, false, site);
  } else {
    entered = enter(warpgroup, group, self, product, site);
  }
  accumulator *sum = entered->sum;
  if (sum->d[rank] == NULL) {
    sum->d[rank] = product->d;
    take_registers(sum, rank, product->clear);
  }
  sum->last[rank] = self->products.group;
  entered->a[rank] = product->a_registers;
}

void emulator_warpgroup_commit(const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  thread *self = worker->running;
  warpgroup *warpgroup = warpgroup_of(worker, self);
  aligned_come(warpgroup, &self->products, site);
  product_group *group = open_group(worker, warpgroup, site);
  if (self->products.started != group->count) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the thread commits %u product%s, others of its warpgroup %u",
                   site->operation, site->file, site->line, self->products.started,
                   plural(self->products.started), group->count);
  }
  history_did(worker, site, NULL);
  if (group->committed == 0) observer_group_commit(worker, self->products.group);
  self->products.group++;
  self->products.started = 0;
  if (++group->committed < WARPGROUP_THREADS) return;
  const unsigned first = self->index - rank_of(self);
  for (unsigned i = first; i < first + WARPGROUP_THREADS; i++) {
    thread *thread = &worker->threads[i];
    if (thread->state == THREAD_AT_PRODUCTS && thread->awaited == group) {
      block_ready(worker, thread);
    }
  }
}

// ---- Waiting ------------------------------------------------------------------------------------

static void execute(const warpgroup_product *product) {
  product_operands *operands = &current_worker->product_operands;
  accumulator *sum = product->sum;
  const unsigned columns = sum->columns;
  product_read_a(operands, product);
  product_read_b(operands, product);
  if (product->first.clear) memset(sum->sum, 0, PRODUCT_ROWS * columns * sizeof(float));
  matrix_multiply_add(sum->sum[0], operands->a[0], operands->b, PRODUCT_ROWS, columns, columns);
  matrix_product_count(PRODUCT_ROWS * columns * K / 2048, &product->site);
}

void emulator_warpgroup_wait(unsigned newest, const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  thread *self = worker->running;
  warpgroup *warpgroup = warpgroup_of(worker, self);
  thread_products *own = &self->products;
  aligned_come(warpgroup, own, site);
  history_did(worker, site, NULL);
  const uint64_t pending = own->group - own->waited;
  history_leaves(worker, pending < newest ? (unsigned)pending : newest);
  if (pending <= newest) return;
  const uint64_t end = own->group - newest; // groups before it must be complete
  product_group *last = &warpgroup->groups[(end - 1) % GROUPS_MAX];
  if (last->committed < WARPGROUP_THREADS) {
    self->state = THREAD_AT_PRODUCTS;
    self->site = site;
    self->awaited = last;
    block_wait(worker);
  }
  for (; warpgroup->executed < end; warpgroup->executed++) {
    const product_group *group = &warpgroup->groups[warpgroup->executed % GROUPS_MAX];
    for (unsigned i = 0; i < group->count; i++) execute(&group->products[i]);
  }
  const unsigned rank = rank_of(self);
  for (unsigned i = 0; i < ACCUMULATORS_MAX && warpgroup->accumulators[i] != NULL; i++) {
    accumulator *sum = warpgroup->accumulators[i];
    if (sum->taken && sum->d[rank] != NULL && sum->last[rank] < end) deliver(sum, rank);
  }
  observer_group_wait(worker, end);
  for (; own->waited < end; own->waited++) {
    product_group *group = &warpgroup->groups[own->waited % GROUPS_MAX];
    if (++group->waited == WARPGROUP_THREADS) group->count = group->committed = group->waited = 0;
  }
}
