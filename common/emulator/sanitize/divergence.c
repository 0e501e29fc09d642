// Barriers of a block that some of its threads miss. A barrier must be reached by all threads of the block that have not
// ended, and by all at the same place (CUDA C++ Programming Guide, "Synchronization Functions" and "Independent Thread
// Scheduling"). If they have come to different places they are out of step from then on, and later barriers say nothing
// new. A thread may end before a barrier, as many do that have no element of their own. But then the barrier does not
// order its accesses, so it is held against the thread if it would have ordered a race (findings.c).
#define _GNU_SOURCE
#include "roles.h"

#include "line_text.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>

// Of each block of the running cluster.
static struct steps {
  bool out_of_step;     // threads of the block have passed a barrier at different places
  unsigned ended_known; // how many had ended at the last barrier
} steps[CLUSTER_BLOCKS_MAX];

void divergence_forget(void) { steps[order_rank()] = (struct steps){0}; }

static bool same_place(const emulator_site *a, const emulator_site *b) {
  return a->line == b->line && strcmp(a->file, b->file) == 0;
}

// Where the threads of the block are when it opens: at the place of the first that waits, at that of the next one
// that waits elsewhere, at a third place, or at their end.
typedef enum { AT_FIRST, AT_SECOND, FURTHER, ENDED, WHEREABOUTS } whereabouts;
typedef struct {
  const thread *first, *second;
  unsigned count[WHEREABOUTS];
  bool are[WHEREABOUTS][BLOCK_THREADS_MAX];
} crowd;
static crowd seen; // at the barrier that opens now

static void look_around(const worker *worker) {
  memset(&seen, 0, sizeof seen);
  for (unsigned i = 0; i < worker->thread_count; i++) {
    const thread *it = &worker->threads[i];
    whereabouts where = FURTHER;
    if (it->state == THREAD_EXITED) {
      where = ENDED;
    } else {
      if (seen.first == NULL) seen.first = it;
      if (same_place(it->site, seen.first->site)) {
        where = AT_FIRST;
      } else {
        if (seen.second == NULL) seen.second = it;
        if (same_place(it->site, seen.second->site)) where = AT_SECOND;
      }
    }
    seen.are[where][i] = true;
    seen.count[where]++;
  }
}

static char *copy_of(const line_text *line) {
  char *text = strdup(line->text);
  if (text == NULL) abort();
  return text;
}

// The texts stay for the whole run, because the example may be reported late; there are few.
static void describe(finding *found, const void *address) {
  const worker *worker = address;
  for (unsigned i = 0; i < found->parties; i++) {
    line_text line = {.length = 0};
    line_append_threads(&line, worker, seen.are[i == 0 ? AT_FIRST : AT_SECOND]);
    found->threads[i] = copy_of(&line);
  }
  line_text line = {.length = 0};
  if (seen.count[FURTHER] > 0) {
    const bool one = line_append_threads(&line, worker, seen.are[FURTHER]) == 1;
    line_append(&line, " %s at a barrier in another line", one ? "waits" : "wait");
  }
  if (seen.count[ENDED] > 0) {
    if (line.length > 0) line_append(&line, ", and ");
    const bool one = line_append_threads(&line, worker, seen.are[ENDED]) == 1;
    line_append(&line, one ? " has ended and does not come" : " have ended and do not come");
  }
  if (line.length > 0) found->others = copy_of(&line);
}

static finding_party waiting_party(worker *worker, const thread *waiting) {
  const checked_access access = {
      .worker = worker, .thread = waiting->index, .place = place_of_site(waiting->site)};
  return access_party(&access);
}

void observer_barrier_release(worker *worker) {
  struct steps *own = &steps[order_rank()];
  order_block_barrier();
  if (own->out_of_step) return;
  look_around(worker);
  if (seen.first == NULL) return;
  const bool more_ended = seen.count[ENDED] > own->ended_known;
  own->ended_known = seen.count[ENDED];
  finding found = {
      .kind = FINDING_BARRIER_MISSED,
      .space = ADDRESS_STATIC_SHARED,
      .party = {waiting_party(worker, seen.first)},
      .parties = 1,
      .hint = "a barrier of the block is for all its threads, and for all in the same line: put it "
              "outside of branches and loops that only some of them go through; a thread without "
              "work leaves out the work, not the barrier"};
  if (seen.second != NULL) {
    own->out_of_step = true;
    found.party[1] = waiting_party(worker, seen.second);
    found.parties = 2;
  } else if (!more_ended) {
    return;
  }
  findings_add(&found, describe, worker);
}
