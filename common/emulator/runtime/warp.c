// The collectives of a warp. There is one mechanism, the rendezvous,
// and each of CUDA's warp functions is an operation for it.
#define _GNU_SOURCE
#include "block.h"

#include "fault.h"
#include "numeric/poison.h"
#include "observer.h"

#include <string.h>

// ---- Rendezvous ---------------------------------------------------------------------------------

static unsigned first_thread(const worker *worker, const warp *warp) {
  return (unsigned)(warp - worker->warps) * GPU_WARP_LANES;
}

// All lanes have arrived: runs the operation and makes the waiting lanes ready.
static void complete(worker *worker, warp *warp, rendezvous *meeting) {
  thread *lanes = &worker->threads[first_thread(worker, warp)];
  const rendezvous met = *meeting;
  *meeting = warp->pending[--warp->pending_count];
  void *operands[GPU_WARP_LANES] = {NULL};
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (met.arrived >> lane & 1) operands[lane] = lanes[lane].operand;
  }
  met.operation(operands, met.arrived);
  observer_warp_collective(worker, lanes, met.arrived, met.site);
  worker->counts.warp_collectives++;
  const thread_products *products = &lanes[__builtin_ctz(met.arrived)].products;
  if (products->group > products->waited) worker->counts.collectives_under_products++;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((met.arrived >> lane & 1) && lanes[lane].state == THREAD_IN_WARP) {
      block_ready(worker, &lanes[lane]);
    }
  }
}

// Returns the rendezvous of the lanes in `mask`, and begins one if there is none.
static rendezvous *meet(worker *worker, warp *warp, unsigned mask,
                        emulator_warp_operation operation, const emulator_site *site) {
  for (unsigned i = 0; i < warp->pending_count; i++) {
    rendezvous *meeting = &warp->pending[i];
    if (meeting->mask != mask) continue;
    const char *waiting = meeting->site->operation;
    if (meeting->operation != operation ||
        (waiting != site->operation && strcmp(waiting, site->operation) != 0)) {
      fault_mixed_operations(worker, meeting, site);
    }
    return meeting;
  }
  rendezvous *meeting = &warp->pending[warp->pending_count++];
  *meeting = (rendezvous){.mask = mask, .operation = operation, .site = site};
  return meeting;
}

void emulator_warp_collective(unsigned mask, emulator_warp_operation operation, void *operand,
                              const emulator_site *site) {
  worker *worker = current_worker;
  thread *self = worker->running;
  warp *warp = warp_of(worker, self);
  const unsigned own = 1u << self->seen.lane;
  if ((mask & own) == 0) {
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: the calling thread is lane %u, which its mask 0x%08x does not name",
        site->operation, site->file, site->line, self->seen.lane, mask);
  }
  observer_warp_arrive(worker, mask, site);
  self->operand = operand;
  self->mask = mask;
  rendezvous *meeting = meet(worker, warp, mask, operation, site);
  meeting->arrived |= own;
  if (meeting->arrived == (mask & warp->alive)) {
    complete(worker, warp, meeting);
    block_step_aside(worker);
    return;
  }
  self->state = THREAD_IN_WARP;
  self->site = site;
  block_wait(worker);
}

void warp_lane_exited(worker *worker, thread *thread) {
  warp *warp = warp_of(worker, thread);
  warp->alive &= ~(1u << thread->seen.lane);
  for (unsigned i = warp->pending_count; i > 0; i--) { // backwards: complete() removes entries
    rendezvous *meeting = &warp->pending[i - 1];
    if (meeting->arrived == (meeting->mask & warp->alive)) complete(worker, warp, meeting);
  }
  if (--warp->running == 0 && warp->asking != 0) warp_answer_active_masks(worker, warp);
}

// ---- Which lanes are active ---------------------------------------------------------------------

unsigned emulator_active_mask(const emulator_site *site) {
  worker *worker = current_worker;
  thread *self = worker->running;
  warp_of(worker, self)->asking |= 1u << self->seen.lane;
  self->state = THREAD_ACTIVE_MASK;
  self->site = site;
  block_wait(worker);
  return self->mask;
}

static bool same_site(const emulator_site *a, const emulator_site *b) {
  return a->line == b->line && strcmp(a->file, b->file) == 0;
}

void warp_answer_active_masks(worker *worker, warp *warp) {
  thread *lanes = &worker->threads[first_thread(worker, warp)];
  const unsigned asking = warp->asking;
  warp->asking = 0;
  warp->impatience = 0;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((asking >> lane & 1) == 0) continue;
    lanes[lane].mask = 0;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      if ((asking >> other & 1) && same_site(lanes[lane].site, lanes[other].site)) {
        lanes[lane].mask |= 1u << other;
      }
    }
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (asking >> lane & 1) block_ready(worker, &lanes[lane]);
  }
}

// ---- Operations ---------------------------------------------------------------------------------

// The first lane of the warp for which a collective's operation runs.
static thread *first_lane(worker *worker) {
  return &worker->threads[first_thread(worker, warp_of(worker, worker->running))];
}

static void order_memory(void *operand[32], unsigned lanes) {
  (void)operand;
  observer_warp_barrier(current_worker, first_lane(current_worker), lanes);
}

void emulator_warp_barrier(unsigned mask, const emulator_site *site) {
  emulator_warp_collective(mask, order_memory, NULL, site);
}

typedef struct {
  const void *value;
  void *result;
  unsigned bytes;
  unsigned source_lane;
  const emulator_site *site;
} shuffle_operand;

static void shuffle(void *operand[32], unsigned lanes) {
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    const shuffle_operand *to = operand[lane];
    const shuffle_operand *from = operand[to->source_lane];
    if (from != NULL) {
      memcpy(to->result, from->value, to->bytes);
    } else {
      observer_shuffle_absent(current_worker, lane, to->source_lane, to->site);
      poison_fill(to->result, to->bytes, POISON_LANE);
    }
  }
}

void emulator_shuffle(unsigned mask, const void *value, void *result, unsigned bytes,
                      unsigned source_lane, const emulator_site *site) {
  shuffle_operand operand = {value, result, bytes, source_lane % GPU_WARP_LANES, site};
  emulator_warp_collective(mask, shuffle, &operand, site);
}

typedef struct {
  uint64_t value;
  unsigned result;
  int all_equal; // match_all
} value_operand;

static void ballot(void *operand[32], unsigned lanes) {
  unsigned result = 0;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) result |= (unsigned)(((value_operand *)operand[lane])->value) << lane;
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) ((value_operand *)operand[lane])->result = result;
  }
}

unsigned emulator_ballot(unsigned mask, int predicate, const emulator_site *site) {
  value_operand operand = {.value = predicate != 0};
  emulator_warp_collective(mask, ballot, &operand, site);
  return operand.result;
}

// Gives each lane the lanes with the same value; match_all gives 0 unless all have it.
static void match(void *operand[32], unsigned lanes) {
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    value_operand *mine = operand[lane];
    mine->result = 0;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      if ((lanes >> other & 1) && ((value_operand *)operand[other])->value == mine->value) {
        mine->result |= 1u << other;
      }
    }
    mine->all_equal = mine->result == lanes;
  }
}

unsigned emulator_match_any(unsigned mask, uint64_t value, const emulator_site *site) {
  value_operand operand = {.value = value};
  emulator_warp_collective(mask, match, &operand, site);
  return operand.result;
}

unsigned emulator_match_all(unsigned mask, uint64_t value, int *all_equal,
                            const emulator_site *site) {
  value_operand operand = {.value = value};
  emulator_warp_collective(mask, match, &operand, site);
  *all_equal = operand.all_equal;
  return operand.all_equal ? operand.result : 0;
}

typedef struct {
  unsigned value;
  emulator_reduction reduction;
} reduce_operand;

static unsigned combine(emulator_reduction reduction, unsigned a, unsigned b) {
  switch (reduction) {
  case EMULATOR_REDUCE_ADD: return a + b;
  case EMULATOR_REDUCE_MIN_SIGNED: return (int)a < (int)b ? a : b;
  case EMULATOR_REDUCE_MAX_SIGNED: return (int)a > (int)b ? a : b;
  case EMULATOR_REDUCE_MIN_UNSIGNED: return a < b ? a : b;
  case EMULATOR_REDUCE_MAX_UNSIGNED: return a > b ? a : b;
  case EMULATOR_REDUCE_AND: return a & b;
  case EMULATOR_REDUCE_OR: return a | b;
  case EMULATOR_REDUCE_XOR: return a ^ b;
  }
  return 0;
}

static void reduce(void *operand[32], unsigned lanes) {
  const unsigned first = (unsigned)__builtin_ctz(lanes);
  unsigned result = ((reduce_operand *)operand[first])->value;
  for (unsigned lane = first + 1; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    const reduce_operand *next = operand[lane];
    result = combine(next->reduction, result, next->value);
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) ((reduce_operand *)operand[lane])->value = result;
  }
}

unsigned emulator_reduce(unsigned mask, emulator_reduction reduction, unsigned value,
                         const emulator_site *site) {
  reduce_operand operand = {.value = value, .reduction = reduction};
  emulator_warp_collective(mask, reduce, &operand, site);
  return operand.value;
}
