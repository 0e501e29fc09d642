#define _GNU_SOURCE
#include "report.h"

#include "fault.h"
#include "runtime/plural.h"

#include <inttypes.h>
#include <stdio.h>

static const char *access_name(observed_kind kind) {
  switch (kind) {
  case OBSERVED_READ:
  case OBSERVED_STRUCT_READ: return "read";
  case OBSERVED_WRITE: return "write";
  case OBSERVED_ATOMIC:
  case OBSERVED_ATOMIC_STORE:
  case OBSERVED_COMPARE: return "atomic operation";
  case OBSERVED_ASYNC_READ: return "read by an asynchronous copy";
  case OBSERVED_ASYNC_WRITE: return "write by an asynchronous copy";
  case OBSERVED_BOX_WRITE: return "write by a box copy";
  case OBSERVED_PRODUCT_READ: return "read by a product";
  }
  return "access";
}

static void report_title(const finding *found) {
  const char *space = address_space_name(found->space);
  const finding_party *first = &found->party[0], *last = &found->party[found->parties - 1];
  switch (found->kind) {
  case FINDING_OUT_OF_BOUNDS:
  case FINDING_MISALIGNED:
    fault_report_title("Invalid %s %s of size %u bytes", space, access_name(last->kind),
                       last->bytes);
    break;
  case FINDING_INDEX: fault_report_title("Index out of bounds: %s", found->detail.text); break;
  case FINDING_UNINITIALISED:
    fault_report_title("Uninitialized %s memory read of size %u bytes", space, last->bytes);
    break;
  case FINDING_RACE:
    fault_report_title("Race reported between %s and %s of %s memory", access_name(first->kind),
                       access_name(last->kind), space);
    break;
  case FINDING_EARLY_ACCESS:
    fault_report_title("Race reported between an asynchronous copy under way and %s of %s memory",
                       access_name(last->kind), space);
    break;
  case FINDING_TRANSFER:
    fault_report_title("Race reported between a transfer under way and %s of %s memory",
                       access_name(last->kind), space);
    break;
  case FINDING_COPY_NOT_WAITED:
    fault_report_title("Asynchronous copy of %u bytes never waited for", first->bytes);
    break;
  case FINDING_BARRIER_HIDDEN:
    fault_report_title("Box copy counts on a barrier that was not made visible to the copy engine");
    break;
  case FINDING_BARRIER_AGAIN:
    fault_report_title("Barrier made where the block has made one already");
    break;
  case FINDING_REGISTERS:
    fault_report_title("Race reported between a product under way and %s of its registers",
                       last->kind == OBSERVED_PRODUCT_READ ? "another product"
                                                           : access_name(last->kind));
    break;
  case FINDING_FENCE:
    if (found->parties == 1)
      fault_report_title("Product without a wgmma.fence before it");
    else
      fault_report_title("Product whose registers were used without a wgmma.fence since");
    break;
  case FINDING_PROXY:
    fault_report_title("%s %s memory that a thread has %s without a fence.proxy.async",
                       last->kind == OBSERVED_BOX_WRITE ? "Box copy overwrites" : "Product reads",
                       space, first->kind == OBSERVED_READ ? "read" : "written");
    break;
  case FINDING_PHASE:
    fault_report_title("Barrier error detected. A thread may miss the phase for which it waits, or "
                       "take another one for it");
    break;
  case FINDING_TURN:
    fault_report_title(
        "Barrier error detected. A thread may arrive twice in one phase of a named barrier");
    break;
  case FINDING_BLOCK_NOT_BEGUN:
    fault_report_title("Race reported between the beginning of a block and %s of its %s memory",
                       access_name(last->kind), space);
    break;
  case FINDING_BLOCK_ENDED:
    fault_report_title("Race reported between the end of a block and %s of its %s memory",
                       access_name(last->kind), space);
    break;
  case FINDING_SHUFFLE: fault_report_title("Shuffle from a lane that takes no part in it"); break;
  case FINDING_PRODUCT_NOT_WAITED: fault_report_title("Product never waited for"); break;
  case FINDING_BARRIER_MISSED:
    fault_report_title("Barrier error detected. Divergent thread(s) in block");
    break;
  }
}

void report_place(const char *name, const char *what, const place_text *place) {
  if (place->line == 0) {
    fault_report_line(
        "%sat an unknown line of %s: compile with -g, and install binutils (addr2line)", what,
        name);
    return;
  }
  const char *function = place->function[0] != '\0' ? place->function : name;
  fault_report_line("%sat %s in %s:%d", what, function, place->file, place->line);
  fault_report_source(place->file, place->line);
  if (place->caller[0] != '\0') fault_report_line("    %s", place->caller);
  if (place->origin[0] != '\0') fault_report_line("    %s", place->origin);
}

// `threads` stands for a thread's number, when it is not NULL.
static void report_thread(const launch *launch, const finding_party *party, const char *threads,
                          const char *detail) {
  const dim3 dim = launch->request->block, grid = launch->request->grid;
  const unsigned i = party->thread;
  const uint64_t block = party->block;
  if (party->earlier) {
    fault_report_line("by a thread of the kernel before");
    return;
  }
  char one[64];
  snprintf(one, sizeof one, "thread (%u,%u,%u)", i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y));
  fault_report_line("by %s in block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")%s%s",
                    threads != NULL ? threads : one, block % grid.x, block / grid.x % grid.y,
                    block / ((uint64_t)grid.x * grid.y), detail[0] != '\0' ? ": " : "", detail);
}

static void report_parties(const launch *launch, const finding *found, const place_text *places) {
  for (unsigned i = 0; i < found->parties; i++) {
    const finding_party *party = &found->party[i];
    if (found->kind == FINDING_TRANSFER && i == 0) { // by the host
      report_place(launch->request->name, "transfer queued ", &places[i]);
      continue;
    }
    char what[64] = "";
    if (found->parties > 1 && party->kind == OBSERVED_BOX_WRITE) { // the size is not kept
      snprintf(what, sizeof what, "%s ", access_name(party->kind));
    } else if ((found->kind == FINDING_BARRIER_HIDDEN && i == 0) ||
               found->kind == FINDING_BARRIER_AGAIN) {
      snprintf(what, sizeof what, "barrier made ");
    } else if (found->kind == FINDING_PHASE) {
      snprintf(what, sizeof what, i == 0 ? "wait " : "arrival ");
    } else if (found->kind == FINDING_TURN) {
      snprintf(what, sizeof what, i == 0 ? "first arrival " : "second arrival ");
    } else if (found->kind == FINDING_REGISTERS && party->kind == OBSERVED_PRODUCT_READ) {
      snprintf(what, sizeof what, "product ");
    } else if (found->kind == FINDING_FENCE && i + 1 == found->parties) {
      snprintf(what, sizeof what, "product ");
    } else if (found->parties > 1 && party->bytes > 0) {
      snprintf(what, sizeof what, "%s of %u byte%s ", access_name(party->kind), party->bytes,
               plural(party->bytes));
    }
    const bool last = i + 1 == found->parties;
    report_place(launch->request->name, what, &places[i]);
    report_thread(launch, party, found->threads[i],
                  last && found->kind != FINDING_INDEX ? found->detail.text : "");
  }
  if (found->others != NULL) fault_report_line("%s", found->others);
}

void report_finding(const launch *launch, const finding *found, const place_text *places,
                    uint64_t more) {
  flockfile(stderr);
  report_title(found);
  report_parties(launch, found, places);
  fault_report_line("in kernel %s", launch->request->name);
  if (more > 0) fault_report_line("%" PRIu64 " more like this", more);
  if (found->hint != NULL) fault_report_line("hint: %s", found->hint);
  funlockfile(stderr);
}
