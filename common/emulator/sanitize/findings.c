#define _GNU_SOURCE
#include "findings.h"

#include "fault.h"
#include "places.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  finding example;
  uint64_t count;
  bool in_report; // of an earlier launch, or merged into another one
} entry;

enum { ENTRIES_MAX = 4096, SLOTS = 2 * ENTRIES_MAX };

static entry entries[ENTRIES_MAX];
static unsigned entry_count;
static uint16_t slots[SLOTS]; // hash table of indices + 1, 0 where empty
static uint64_t reported, faults;
static _Atomic uint64_t counted; // reported elsewhere
static bool barrier_missed;      // by threads of the running launch

uint64_t observer_findings(void) { return reported + faults + counted; }

void findings_count(void) { counted++; }

void observer_fault(worker *worker) {
  faults++;
  // A thread that causes a fault is ready, so this is a deadlock; it has been reported when races are.
  bool any_ready = false, any_at_barrier = false;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    any_ready |= worker->threads[i].state == THREAD_READY;
    any_at_barrier |= worker->threads[i].state == THREAD_AT_BARRIER;
  }
  barrier_missed |= any_at_barrier && !any_ready;
}

void findings_leave(worker *worker, cudaError_t error) {
  fault_abandon(worker, error);
  fault_leave(worker);
}

// Threads have ended before a barrier to which others have come. That alone is no fault.
static bool is_of_ended(const finding *found) {
  return found->kind == FINDING_BARRIER_MISSED && found->parties == 1;
}

// ---- Collecting ---------------------------------------------------------------------------------

// How far apart are the parties of a race? Each distance asks for another mend.
typedef enum { DISTANCE_WARP, DISTANCE_BLOCK, DISTANCE_GRID } distance;

// Copies and products belong to no single warp.
static bool is_of_a_thread(const finding_party *party) {
  return party->kind != OBSERVED_BOX_WRITE && party->kind != OBSERVED_PRODUCT_READ;
}

static distance distance_of(const finding *found) {
  const finding_party *a = &found->party[0], *b = &found->party[1];
  if (found->kind != FINDING_RACE || a->block != b->block) return DISTANCE_GRID;
  const bool one_warp = is_of_a_thread(a) && is_of_a_thread(b) &&
                        a->thread / GPU_WARP_LANES == b->thread / GPU_WARP_LANES;
  return one_warp ? DISTANCE_WARP : DISTANCE_BLOCK;
}

static bool same(const finding *a, const finding *b) {
  return a->kind == b->kind && a->space == b->space && a->party[0].place == b->party[0].place &&
         a->party[1].place == b->party[1].place && distance_of(a) == distance_of(b);
}

// NULL when there is no room for another one.
static entry *entry_of(const finding *found) {
  uint64_t hash = found->party[0].place * 0x9E3779B97F4A7C15u;
  hash = (hash ^ found->party[1].place ^ (uint64_t)found->kind << 32) * 0x9E3779B97F4A7C15u;
  for (uint64_t i = hash >> 40;; i++) {
    uint16_t *slot = &slots[i % SLOTS];
    if (*slot != 0) {
      if (same(&entries[*slot - 1].example, found)) return &entries[*slot - 1];
    } else if (entry_count == ENTRIES_MAX) {
      return NULL;
    } else {
      entries[entry_count].example = *found;
      *slot = (uint16_t)++entry_count;
      return &entries[entry_count - 1];
    }
  }
}

static bool smaller(const finding *a, const finding *b) {
  for (unsigned i = 2; i > 0; i--) { // the later party belongs to the block that was running
    const finding_party *of_a = &a->party[i - 1], *of_b = &b->party[i - 1];
    if (of_a->block != of_b->block) return of_a->block < of_b->block;
    if (of_a->thread != of_b->thread) return of_a->thread < of_b->thread;
  }
  return false;
}

void findings_add(finding *found, finding_describe describe, const void *address) {
  barrier_missed |= found->kind == FINDING_BARRIER_MISSED && !is_of_ended(found);
  entry *entry = entry_of(found);
  if (entry == NULL) return;
  entry->example.ended |= found->ended;
  found->ended = entry->example.ended;
  if (entry->count++ > 0 && (entry->in_report || !smaller(found, &entry->example))) return;
  if (describe != NULL) describe(found, address);
  entry->example = *found;
}

// ---- Reporting ----------------------------------------------------------------------------------

static bool same_line(const place_text *a, const place_text *b) {
  return a->line == b->line && strcmp(a->file, b->file) == 0 &&
         strcmp(a->operation, b->operation) == 0;
}

// Whether two pairs of lines are the same, in either order.
static bool same_lines(const place_text *a, const place_text *b) {
  return (same_line(&a[0], &b[0]) && same_line(&a[1], &b[1])) ||
         (same_line(&a[0], &b[1]) && same_line(&a[1], &b[0]));
}

// Whether the second finding explains the first: a read of uninitialised memory, or of that of a block that may not
// have begun, is explained by a race of the same line with the write, or by a transfer that is under way. A race with a
// completed copy is explained by the finding that the same copy is still under way. A race of two lanes is explained by
// that of two warps, because the barrier that mends this one mends both.
static bool explained_by(const finding *found, const place_text *found_texts, const finding *other,
                         const place_text *other_texts) {
  const bool is_early =
      found->kind == FINDING_UNINITIALISED || found->kind == FINDING_BLOCK_NOT_BEGUN;
  const bool may_explain =
      other->kind == FINDING_RACE || other->kind == FINDING_TRANSFER ||
      (other->kind == FINDING_BLOCK_NOT_BEGUN && found->kind == FINDING_UNINITIALISED);
  if (is_early && may_explain) {
    return found->space == other->space &&
           (same_line(&found_texts[0], &other_texts[0]) ||
            (other->parties > 1 && same_line(&found_texts[0], &other_texts[1])));
  }
  if (found->kind != FINDING_RACE || !same_lines(found_texts, other_texts)) return false;
  return other->kind == FINDING_EARLY_ACCESS ||
         (other->kind == FINDING_RACE && found->space == other->space &&
          distance_of(found) == DISTANCE_WARP && distance_of(other) == DISTANCE_BLOCK);
}

static bool is_explained(unsigned index, const place_text *texts) {
  for (unsigned i = 0; i < entry_count; i++) {
    if (explained_by(&entries[index].example, &texts[2 * index], &entries[i].example,
                     &texts[2 * i]))
      return true;
  }
  return false;
}

// Merges the later entries about the same lines into the entry, and keeps the smallest example of
// them. Returns false when an earlier entry has the same lines, since that one has been reported.
static bool merge(unsigned index, place_text *texts) {
  entry *kept = &entries[index];
  for (unsigned i = 0; i < entry_count; i++) {
    entry *other = &entries[i];
    if (i == index || other->example.kind != kept->example.kind ||
        other->example.space != kept->example.space ||
        distance_of(&other->example) != distance_of(&kept->example) ||
        !same_lines(&texts[2 * index], &texts[2 * i])) {
      continue;
    }
    if (i < index) return false;
    kept->count += other->count;
    kept->example.ended |= other->example.ended;
    other->example.ended = kept->example.ended;
    other->in_report = true;
    if (smaller(&other->example, &kept->example)) {
      kept->example = other->example;
      memcpy(&texts[2 * index], &texts[2 * i], 2 * sizeof *texts);
    }
  }
  return true;
}

// The kernels of Thrust and CUB let blocks wait for each other through memory that both access without atomic
// operations, and read shared memory for values that they do not use. They are not the program's faults. A functor of
// the program that runs there has a line of the program, so its faults are reported.
static bool is_of_library(const finding *found, const place_text *texts) {
  if (found->kind != FINDING_RACE &&
      (found->kind != FINDING_UNINITIALISED || found->space == ADDRESS_GLOBAL))
    return false;
  for (unsigned i = 0; i < found->parties; i++)
    if (!code_line_of_library(&texts[i])) return false;
  return true;
}

// Reports the entry unless another one stands for it. `missed`: threads of the launch have missed a barrier.
static void report_entry(const launch *launch, unsigned index, place_text *texts, bool missed) {
  entry *it = &entries[index];
  if (it->in_report || is_explained(index, texts)) return;
  it->in_report = true;
  if (!merge(index, texts) || is_of_library(&it->example, &texts[2 * index])) return;
  reported++;
  if (missed && it->example.kind == FINDING_RACE && distance_of(&it->example) == DISTANCE_BLOCK)
    it->example.hint = "threads of this launch have missed a barrier, as is reported above: mend "
                       "that first, because the race may come of it";
  else if (it->example.ended)
    it->example.hint =
        "a thread has ended before a barrier of the block, which orders none of its accesses "
        "since the barrier before: it must come to the barrier first";
  report_finding(launch, &it->example, &texts[2 * index], it->count - 1);
}

void findings_report(const launch *launch) {
  static unsigned looked_at; // entries before this one are in an earlier report
  static place_text *texts;  // two for each entry
  const bool missed = barrier_missed;
  barrier_missed = false;
  if (looked_at == entry_count) return;
  if (texts == NULL) texts = calloc(2 * (size_t)ENTRIES_MAX, sizeof *texts);
  uint32_t *places = calloc(2 * (size_t)ENTRIES_MAX, sizeof *places);
  if (texts == NULL || places == NULL) abort();
  for (unsigned i = looked_at; i < entry_count; i++) {
    for (unsigned party = 0; party < 2; party++) {
      places[2 * i + party] = entries[i].example.party[party].place;
    }
  }
  const size_t first = 2 * (size_t)looked_at, count = 2 * (size_t)(entry_count - looked_at);
  places_describe(places + first, count, texts + first);
  free(places);
  bool harmful = false;
  for (unsigned i = looked_at; i < entry_count; i++) harmful |= entries[i].example.ended;
  for (unsigned i = looked_at; i < entry_count; i++) { // first, because races may come of it
    entries[i].in_report |= is_of_ended(&entries[i].example) && !harmful;
    if (entries[i].example.kind == FINDING_BARRIER_MISSED) report_entry(launch, i, texts, missed);
  }
  for (unsigned i = looked_at; i < entry_count; i++) report_entry(launch, i, texts, missed);
  looked_at = entry_count;
}
