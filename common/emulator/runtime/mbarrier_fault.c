// The reports about barriers in shared memory: what one still waits for, and an arrival too many.
#define _GNU_SOURCE
#include "caller.h"
#include "fault.h"
#include "known_barriers.h"
#include "mbarrier.h"

#include <inttypes.h>
#include <stdio.h>

mbarrier_text mbarrier_describe(const uint64_t *barrier) {
  mbarrier_text out;
  const mbarrier now = mbarrier_peek(barrier);
  char bytes[64] = "";
  if (now.bytes < 0 && now.pending == 0) {
    snprintf(out.text, sizeof out.text, "all arrivals and %d bytes too many have come", -now.bytes);
    return out;
  }
  if (now.bytes > 0) snprintf(bytes, sizeof bytes, " and %d bytes", now.bytes);
  const int length = snprintf(out.text, sizeof out.text, "%u of %u arrivals%s are still to come",
                              now.pending, now.arrivals, bytes);
  if (now.bytes < 0)
    snprintf(out.text + length, sizeof out.text - (size_t)length,
             ", and %d bytes have come that no thread announced", -now.bytes);
  return out;
}

bool mbarrier_report_bytes(const worker *worker, const uint64_t *barrier) {
  const mbarrier now = mbarrier_peek(barrier);
  const known_barrier *known = known_barrier_of(worker, barrier);
  if (now.pending > 0 || known == NULL || known->announced == 0) return false;
  fault_report_line(
      "hint: the bytes announced last for %s are the %u of %s:%d: do the copies bring as "
      "many, and do they name this barrier?",
      mbarrier_short_name(worker, barrier).text, known->announced, known->file, known->line);
  return true;
}

bool mbarrier_report_arrivals(const worker *worker, const uint64_t *barrier) {
  const mbarrier now = mbarrier_peek(barrier);
  if (now.pending == 0) return false;
  fault_report_line("hint: the threads that have to arrive at %s wait themselves, or have exited: "
                    "does each of them arrive once for each wait, and before it waits for what "
                    "comes after?",
                    mbarrier_short_name(worker, barrier).text);
  const known_barrier *known = known_barrier_of(worker, barrier);
  if (now.pending < now.arrivals) {
    fault_report_line("hint: some of its arrivals have come, and others have not: is it made for "
                      "more than come in a lap, or does a thread that should arrive not do so?");
  } else if (known != NULL && known->phases == 0 && known->passed_at_once > 0) {
    fault_report_line("hint: a wait for it has returned at once before, and no thread has arrived "
                      "there since: do the threads that use the stage arrive at this barrier, or "
                      "always at that of another stage of their ring?");
  } else if (known != NULL && known->phases == 0) {
    fault_report_line("hint: no thread has arrived there yet: if this is a wait for a full stage, "
                      "which thread should have filled it? If it is one for an empty stage, it "
                      "should return at once in the first lap, and needs the parity of the phase "
                      "before, 1");
  }
  return true;
}

// ---- An arrival too many ------------------------------------------------------------------------

// Where nothing tells the mistakes apart.
static void report_any_reason(void) {
  fault_report_line(
      "hint: do more threads arrive than the barrier is made for, or has a thread come "
      "round before the bytes of its last lap, since a wait has returned early or is "
      "missing?");
}

// The usual reason is a ring of stages: the thread fills a stage again before the bytes of the last lap have come. It has
// waited until the stage was empty, at another barrier. In each lap one phase ends at either of the two, that of `full`
// first. How many have ended there, and when, tells most mistakes apart.
static void report_empty_too_early(const worker *worker, const known_barrier *full,
                                   const known_barrier *empty) {
  const mbarrier_name name = mbarrier_short_name(worker, full->barrier);
  const mbarrier_name other = mbarrier_short_name(worker, empty->barrier);
  const bool awaited = mbarrier_awaited(worker, full->barrier);
  const bool passed = full->passed_at_once > full->arrived;
  const bool ended_since = empty->ended > full->arrived;
  const unsigned arrivals = mbarrier_peek(empty->barrier).arrivals;
  if (empty->phases > full->phases && !full->waited && !awaited) {
    fault_report_line("hint: no thread has waited for %s: one must do so before it uses what the "
                      "copy brings and says that the stage is empty",
                      name.text);
  } else if (empty->phases > full->phases + 1) {
    fault_report_line("hint: %" PRIu64 " phases have ended at %s, for which the thread has waited, "
                      "and %" PRIu64 " at %s: do more arrivals come to %s in a lap than it is made "
                      "for (%u)%s%s%s?",
                      empty->phases, other.text, full->phases, name.text, other.text, arrivals,
                      passed ? ", or has a wait for " : "", passed ? name.text : "",
                      passed ? " the parity of the phase before" : "");
  } else if (!ended_since && empty->phases <= full->phases) {
    fault_report_line("hint: the thread has filled this stage before, and its wait for %s since "
                      "returned at once, though no phase has ended there: has it the parity of the "
                      "phase before, or is it the barrier of another stage? Or has the thread "
                      "not gone on to the next stage of its ring?",
                      other.text);
  } else if (ended_since && passed) {
    fault_report_line("hint: a wait for %s has returned at once, though the bytes of this phase "
                      "have not come: has it the parity of the phase before, or do more arrivals "
                      "come to %s in a lap than it is made for (%u)?",
                      name.text, other.text, arrivals);
  } else {
    fault_report_line(
        "hint: the thread has waited for %s last: is that the barrier which says that this stage "
        "is empty? Then it was complete too early: does a thread arrive there without having "
        "waited for %s, do more arrivals come in a lap than it is made for (%u), or has a wait "
        "the parity of the phase before?",
        other.text, name.text, arrivals);
  }
}

static void report_reason(const worker *worker, const uint64_t *barrier, const mbarrier *now) {
  const mbarrier_name name = mbarrier_short_name(worker, barrier);
  const known_barrier *known = known_barrier_of(worker, barrier);
  const thread *self = worker->running;
  const known_barrier *waited = known_barrier_of(worker, self->last_barrier);
  if (now->bytes < 0) {
    fault_report_line("hint: are as many bytes announced as the copies bring?");
  } else if (now->arrivals > 1 || known == NULL) {
    report_any_reason();
  } else if (known->arriver != self->index) {
    const uint3 thread = worker->threads[known->arriver].seen.thread_index;
    fault_report_line("hint: thread (%u,%u,%u) has arrived in this phase: is this line for one "
                      "thread alone, or must the phase be over first?",
                      thread.x, thread.y, thread.z);
  } else if (self->last_barrier_wait < known->arrived) {
    fault_report_line(
        "hint: the thread has arrived in this phase before, and has waited for no "
        "barrier in shared memory since: which wait tells it that the bytes have come "
        "and are no longer used?");
  } else if (self->last_barrier == barrier) {
    fault_report_line(
        "hint: the thread has arrived in this phase before, and its wait for %s since "
        "returned at once: it has the parity of the phase before",
        name.text);
  } else if (waited != NULL) {
    report_empty_too_early(worker, known, waited);
  } else {
    report_any_reason();
  }
}

void mbarrier_fault_arrival(worker *worker, const uint64_t *barrier, const mbarrier *now,
                            const emulator_site *site) {
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    char bytes[96], caller[CALLER_TEXT], arrivals[64] = "the one arrival of this phase has";
    caller_of(site, caller);
    if (now->arrivals != 1)
      snprintf(arrivals, sizeof arrivals, "all %u arrivals of this phase have", now->arrivals);
    if (now->bytes > 0)
      snprintf(bytes, sizeof bytes, "which waits for %d bytes", now->bytes);
    else
      snprintf(bytes, sizeof bytes, "and %d bytes too many", -now->bytes);
    fault_report_title("%s in %s:%d: %s come to the barrier %s, "
                       "%s: this is one too many",
                       site->operation, site->file, site->line, arrivals,
                       mbarrier_name_of(worker, barrier).text, bytes);
    if (caller[0] != '\0') fault_report_line("%s", caller);
    fault_report_thread(worker);
    report_reason(worker, barrier, now);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}
