// The mistakes that the sanitizer finds: collected while a kernel runs, reported after its launch.
#ifndef SANITIZE_FINDINGS_H
#define SANITIZE_FINDINGS_H

#include "address_space.h"
#include "observer.h"

typedef enum {
  FINDING_OUT_OF_BOUNDS,
  FINDING_INDEX, // beyond the array's bound
  FINDING_MISALIGNED,
  FINDING_UNINITIALISED,
  FINDING_RACE,
  FINDING_EARLY_ACCESS,    // to where a copy is under way
  FINDING_TRANSFER,        // between memories is under way, which the kernel does not wait for
  FINDING_COPY_NOT_WAITED, // at the thread's exit
  FINDING_PRODUCT_NOT_WAITED,
  FINDING_BARRIER_HIDDEN, // from the copy engine
  FINDING_BARRIER_AGAIN,  // made where there is one already
  FINDING_REGISTERS,      // of a product under way are used
  FINDING_FENCE,          // registers are used and then given to a product, without a fence between
  FINDING_PROXY,          // a product or copy follows a thread's access without a fence for it
  FINDING_PHASE,          // a thread may miss a phase of an mbarrier, or take another one for it
  FINDING_TURN,           // a thread may arrive twice in one phase of a named barrier
  FINDING_SHUFFLE,        // a lane reads one that takes no part
  FINDING_BLOCK_NOT_BEGUN, // whose shared memory another block of the cluster accesses
  FINDING_BLOCK_ENDED,     // the same
  FINDING_BARRIER_MISSED // threads passed a barrier of the block in different lines; one party: others had ended
} finding_kind;

// One of the accesses that make up a finding.
typedef struct {
  uint32_t place;
  uint16_t thread; // in its block
  bool earlier;    // of the kernel before, whose threads and blocks the report does not know
  uint64_t block;  // in the grid
  observed_kind kind;
  unsigned bytes;
} finding_party;

typedef struct {
  finding_kind kind;
  address_space space;
  finding_party party[2]; // in the order in which they came
  unsigned parties;
  // FINDING_RACE: the first party has ended before a barrier that would have come between, here or in a finding like this.
  bool ended;
  address_text detail; // "address K_smem + 0x82", or what else there is to say
  const char *hint;    // NULL for none
  const char *threads[2],
      *others; // FINDING_BARRIER_MISSED: the threads of each party, and those elsewhere or NULL
} finding;

// Adds the finding, or counts it when there is one of its kind for the same places; the
// example that is kept is that of the lowest block and threads. `describe`, when not
// NULL, is called with `address` to write `detail` if the finding becomes the example.
typedef void (*finding_describe)(finding *found, const void *address);
void findings_add(finding *found, finding_describe describe, const void *address);

// Reports to stderr the findings since the last report: one report for each kind and pair of lines. A race is reported
// again for the same lines when its parties are further apart: lanes of a warp, warps of a block, blocks of the grid.
void findings_report(const launch *launch);

// Counts one that has been reported already. Any thread may call it.
void findings_count(void);

// For a finding after which the kernel cannot continue: leaves the launch with the error. Does not return.
__attribute__((noreturn)) void findings_leave(worker *worker, cudaError_t error);

#endif
