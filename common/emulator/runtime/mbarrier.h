// Barriers in shared memory, as the rest of the runtime uses them.
#ifndef MBARRIER_H
#define MBARRIER_H

#include "block.h"

// The fields of the barrier's 64-bit word.
typedef struct {
  unsigned pending;  // arrivals that are still to come in this phase
  unsigned arrivals; // of each phase
  int bytes;         // announced and not yet written; below 0 when written first
  unsigned parity;   // of the phase
} mbarrier;

// Reads the word at a barrier's address. Reports a fault on behalf of `site` when it is not a barrier.
mbarrier mbarrier_read(const uint64_t *barrier, const emulator_site *site);

// The same of a barrier's word that may have been overwritten, for reports.
mbarrier mbarrier_peek(const uint64_t *barrier);

// Counts `bytes` of a copy as arrived. Ends the phase, and returns true, if they were the last.
bool mbarrier_bytes_arrived(worker *worker, uint64_t *barrier, unsigned bytes,
                            const emulator_site *site);

// Whether the phase that the thread waits for is over, as the arrival of another block may have made it.
bool mbarrier_phase_is_over(const thread *thread);

// Whether a thread waits for the barrier's current phase.
bool mbarrier_awaited(const worker *worker, const uint64_t *barrier);

// The words of a report for a barrier: "K_full[1], at address 0x14010 of dynamic shared memory". The name is missing where
// no barrier has been made.
typedef struct {
  char text[256];
} mbarrier_name;
mbarrier_name mbarrier_name_of(const worker *worker, const uint64_t *barrier);
mbarrier_name mbarrier_short_name(const worker *worker, const uint64_t *barrier); // "K_full[1]"

// "1 of 2 arrivals and 16384 bytes are still to come"
typedef struct {
  char text[160];
} mbarrier_text;
mbarrier_text mbarrier_describe(const uint64_t *barrier);

// Says where bytes were announced, if all arrivals of the phase have come, but not just the announced bytes. Returns
// whether it has said anything.
bool mbarrier_report_bytes(const worker *worker, const uint64_t *barrier);

// Asks for the arrivals that are still to come, if there are any. Returns whether it has said anything.
bool mbarrier_report_arrivals(const worker *worker, const uint64_t *barrier);

// The running thread arrives at `site`, and all arrivals of the phase have come, but not its bytes: says so, with what
// is known of the reason, and leaves. `now` is what mbarrier_read has returned.
__attribute__((noreturn)) void mbarrier_fault_arrival(worker *worker, const uint64_t *barrier,
                                                      const mbarrier *now,
                                                      const emulator_site *site);

#endif
