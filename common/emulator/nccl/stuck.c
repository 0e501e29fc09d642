// Ranks that wait for each other, or for a call that does not come.
#define _GNU_SOURCE
#include "stuck.h"

#include "clique.h"
#include "environment.h"
#include "fault.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

double clique_limit_seconds(void) {
  const double DEFAULT_SECONDS = 8;
  return environment_seconds("EMU_NCCL_LIMIT", DEFAULT_SECONDS);
}

// A sentence of NCCL's kind is printed at once if a call is wrong, else when a host thread waits in vain.
static void report_sentence(clique *clique) {
  if (clique->reported) return;
  clique->reported = true;
  fault_report_title("%s", clique->sentence);
}

static char last_sentence[sizeof((clique *)NULL)->sentence];

void clique_fail(clique *clique, ncclResult_t error, const char *format, ...) {
  if (clique->error != ncclSuccess) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(clique->sentence, sizeof clique->sentence, format, arguments);
  va_end(arguments);
  snprintf(last_sentence, sizeof last_sentence, "%s", clique->sentence);
  clique->error = error;
  if (error == ncclInvalidUsage) report_sentence(clique);
  queue_changed();
}

void clique_device_failed(const struct ncclComm *comm) {
  clique_fail(comm->clique, ncclRemoteError, "The device of rank %d has failed or was reset",
              comm->rank);
}

const char *ncclGetLastError(ncclComm_t comm) {
  return comm != NULL && !comm->gone ? comm->clique->sentence : last_sentence;
}

// ---- The report ---------------------------------------------------------------------------------

// Finds the call at which the rank's device stands, of this communicator or another; NULL if there is none.
static const call *stands_at(const struct ncclComm *comm) {
  if (comm->last.stream == NULL || queue_reached(comm->last)) return NULL;
  for (const operation *it = comm->last.stream->first; it != NULL; it = it->next) {
    const call *blocked = it->begun ? collective_blocked(it) : NULL;
    if (blocked != NULL) return blocked;
  }
  return NULL;
}

static void report_rank(const struct ncclComm *comm) {
  const call *at = stands_at(comm);
  const char *left = comm->gone           ? ", and has left the communicator"
                     : comm->owner->ended ? ", and its host thread has ended"
                                          : "";
  if (at != NULL) {
    fault_report_line("rank %d waits in %s", comm->rank, call_describe(at).text);
  } else if (comm->latest.site.name != NULL) {
    fault_report_line("rank %d has made no such call%s; its last call was %s", comm->rank, left,
                      call_describe(&comm->latest).text);
  } else {
    fault_report_line("rank %d has made no call%s", comm->rank, left);
  }
}

void clique_report(clique *clique) {
  if (clique->reported) return;
  flockfile(stderr);
  report_sentence(clique);
  for (int rank = 0; rank < clique->ranks && clique->stuck; rank++) {
    if (clique->comms[rank] != NULL) report_rank(clique->comms[rank]);
  }
  if (clique->stuck)
    fault_report_line("hint: all ranks must make the same collective calls in the same order, and "
                      "each send needs its receive; sends and receives that cross belong between "
                      "ncclGroupStart() and ncclGroupEnd()");
  funlockfile(stderr);
}

// ---- Whether it is for good ---------------------------------------------------------------------

// Finds a call without which the moment cannot be reached. It goes the same way as the search of the queues.
static const call *find_blocked(moment when) {
  if (queue_reached(when) || when.stream->visited) return NULL;
  when.stream->visited = true;
  const operation *first = when.stream->first;
  const call *found = NULL;
  for (unsigned i = 0; i < first->after_count && found == NULL; i++) {
    found = find_blocked(first->after[i]);
  }
  return found == NULL && first->begun ? collective_blocked(first) : found;
}

static bool all_idle(const clique *clique, bool waiting) {
  const double limit = clique_limit_seconds(), patience = limit > 0 ? limit / 4 : INFINITY;
  const host_thread *self = queue_thread();
  for (int rank = 0; rank < clique->ranks; rank++) {
    const host_thread *owner = clique->comms[rank]->owner;
    if (clique->comms[rank]->gone) continue;
    if (!(owner == self && waiting) && !queue_thread_idle(owner, patience)) return false;
  }
  return true;
}

bool stuck_for_good(moment when, bool waiting) {
  queue_forget_visits();
  const call *blocked = find_blocked(when);
  if (blocked == NULL) return false;
  clique *clique = blocked->comm->clique;
  if (clique->error == ncclSuccess) {
    const double limit = clique_limit_seconds();
    if (all_idle(clique, waiting)) {
      clique_fail(clique, ncclRemoteError,
                  "Deadlock: no rank can go on, because each waits or has ended");
    } else if (limit > 0 && queue_quiet_seconds() > limit) {
      clique_fail(clique, ncclRemoteError,
                  "Timeout: ranks have waited for %g seconds for a call of another rank", limit);
    } else {
      return false;
    }
    clique->stuck = true;
    clique_report(clique);
  }
  if (waiting) clique_report(clique);
  return waiting;
}
