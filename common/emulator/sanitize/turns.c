// bar.arrive: a thread that passes a turn on does not wait, and so may come to the same barrier again before the
// turn has been taken. Two arrivals of a warp in one phase count as those of two warps: the barrier then opens too
// early, and some wait is never answered. So a thread must know that the phase of its last arrival is over, because it
// has waited there itself, or for a thread that has. That the phase is over by luck is not enough.
#define _GNU_SOURCE
#include "roles.h"

#include "places.h"

#include <string.h>

enum { PHASES_KEPT = 8 }; // a thread that is so many phases late counts as knowing

typedef struct {
  uint32_t phase; // of the thread's last arrival, counted from 1; 0: none in this block
  uint32_t place;
} turn_arrival;

typedef struct {
  uint32_t phase;                // the running one, counted from 1
  uint32_t over_at[PHASES_KEPT]; // stamp of the end of phase n: [n % PHASES_KEPT]
  turn_arrival of[BLOCK_THREADS_MAX];
} turn;

static turn turns[CLUSTER_BLOCKS_MAX][NAMED_BARRIERS]; // of each block of the running cluster

void turns_forget(void) {
  for (unsigned i = 0; i < NAMED_BARRIERS; i++) {
    turn *it = &turns[order_rank()][i];
    if (it->phase > 0) memset(it, 0, sizeof *it);
  }
}

void observer_turn_arrive(worker *worker, unsigned number, const emulator_site *site) {
  turn *it = &turns[order_rank()][number];
  if (it->phase == 0) it->phase = 1;
  turn_arrival *last = &it->of[worker->running->index];
  const turn_arrival arrival = {.phase = it->phase, .place = place_of_site(site)};
  if (last->phase > 0 && it->phase - last->phase <= PHASES_KEPT &&
      (last->phase == it->phase ||
       !order_phase_known(&worker->named_barriers[number], it->over_at[last->phase % PHASES_KEPT],
                          worker->running->index))) {
    checked_access access = {
        .worker = worker, .thread = worker->running->index, .place = last->place};
    finding found = {.kind = FINDING_TURN,
                     .space = ADDRESS_STATIC_SHARED,
                     .party = {access_party(&access)},
                     .parties = 2,
                     .hint =
                         "a turn may be passed on once only before it is taken: the thread must "
                         "first wait for one that has taken it"};
    access.place = arrival.place;
    found.party[1] = access_party(&access);
    findings_add(&found, NULL, NULL);
  }
  *last = arrival;
}

void observer_turn_complete(worker *worker, unsigned number) {
  turn *it = &turns[order_rank()][number];
  it->over_at[it->phase++ % PHASES_KEPT] = order_phase_event(&worker->named_barriers[number]);
}
