// Kernels that break the rules of Hopper's instructions, for test_hopper_faults.c. Only the emulator runs
// them.
#ifndef HOPPER_FAULTS_H
#define HOPPER_FAULTS_H

#include "healthy.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The line of the operation that a report names, in the kernel that was launched last.
extern int fault_line;

// Each launches its kernel once. Barriers:
void fault_barrier_missing(void);      // waits at an uninitialised word
void fault_barrier_in_global(void);    // byte 0 of an allocation
void fault_barrier_no_arrival(void);   // made for none
void fault_barrier_arrivals(void);     // one arrival too many
void fault_barrier_two_threads(void);  // both arrive, one too many
void fault_barrier_waited_wrong(void); // one arrival too many behind a wait of the wrong parity
void fault_barrier_late_arrival(void); // one too many behind a copy of more bytes than announced
void fault_barrier_never_ends(void);   // thread 0 of 2 arrives, both wait
void fault_barrier_divided(void);      // thread 0 alone comes to __syncthreads()
// Thread 0 waits for K_full[1], thread 1 for empty[2], thread 2 for full[0].
void fault_barrier_of_a_ring(void);
void fault_named_barrier_zero(void);
void fault_named_barrier_counts(void); // 64 and 96 threads
void fault_named_barrier_mixed(void);  // some threads vote
void fault_named_barrier_alone(void);  // 32 of 64 threads wait at barrier 3
void fault_named_barrier_lines(void);  // the halves of each warp come in two lines
void fault_named_barrier_halves(void); // the first half of each warp comes

// Describes a tensor in a map that lies `offset` bytes past a multiple of 64, and returns the error.
int described_at(int offset);

// Box copies:
void fault_copy_bytes_missing(void); // 16 more announced than the box has
void fault_copy_bytes_more(void);    // 16 fewer, then waits for the next phase
void fault_copy_second(void);        // announced, like the one before, as one copy
void fault_copy_not_announced(void); // waits for a copy whose bytes are not announced
void fault_copy_alignment(void);     // to 64 bytes past a multiple of 1024
void fault_copy_past_shared(void);
void fault_copy_column(void); // a box that begins at column 60
void fault_copy_no_map(void);
void fault_copy_rank(void);  // a map of 2 dimensions
void fault_copy_freed(void); // the tensor is no more
void fault_copy_begins_before(void);
void fault_copy_ends_behind(void);

// A ring of one stage, filled by fill_stage of hopper.cuh, which comes round too early:
void fault_ring_lanes(void);           // 32 lanes arrive at empty[0], which is made for one
void fault_ring_two_lanes(void);       // 2 lanes do
void fault_ring_not_awaited(void);     // no thread waits for full[0]
void fault_ring_parity_of_full(void);  // the readers' wait is for the phase before
void fault_ring_same_parity(void);     // it is so in each lap, and never waits
void fault_ring_parity_of_empty(void); // the wait of the thread that fills it is
void fault_ring_not_emptied(void);     // comes round never: no thread arrives at empty[0]

// The values that thread 0 sees of copies of a box of ones: before any wait, after a wait that returns at once, after the
// right wait; of a second box, past the announced bytes.
enum { SEEN_OF_COPIES = 4 };
void seen_of_box_copies(float *seen);

#ifdef __cplusplus
}
#endif
#endif
