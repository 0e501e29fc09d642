// Kernels at and beyond the limits of mbarriers and named barriers, for test_barrier_limits.c. Only the emulator runs them.
#ifndef BARRIER_LIMITS_H
#define BARRIER_LIMITS_H

#include "healthy.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The line of the operation that a report names, in the kernel that was launched last.
extern int fault_line;

// mbarriers:
void fault_barrier_of_zeros(void);    // the word is 0
void fault_barrier_overwritten(void); // the word has more arrivals to come than it is made for
void fault_barrier_misaligned(void);  // 4 bytes behind a multiple of 8
void fault_barrier_too_many(void);    // made for 1,048,576 arrivals
void fault_barrier_bytes(void);       // 1,048,576 bytes are announced, after 1,048,575
void fault_copies_bytes(void);        // 32 boxes of 32 KiB come that no thread has announced
void fault_copy_without_barrier(void);
void right_barrier_limits(void); // 1,048,575 arrivals, and as many bytes

// Named barriers:
void fault_named_barrier_sixteen(void);
void fault_named_barrier_no_threads(void);
void fault_named_barrier_part_of_warp(void); // 48 threads
void fault_named_barrier_files(void); // half a warp comes from another file, in the same line
void fault_named_barrier_second_phase(
    void); // half a warp comes in another line, in the second phase
void right_named_barrier_twice(
    void); // a warp arrives, and then waits in another line; 3 phases end

#ifdef __cplusplus
}
#endif
#endif
