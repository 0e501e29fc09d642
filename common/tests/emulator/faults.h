// Kernels with a fault each, for test_faults.c. Only the emulator runs them.
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where the kernels' source has the operations that a report names; set when a kernel gets there.
extern int line_barrier, line_shuffle, line_ballot, line_assert, line_outside, line_lineless,
    line_call, line_copy;

// Each function launches its kernel once. The caller checks the error and stderr.
void fault_deadlock_barrier(void);
void fault_deadlock_scattered(void);
void fault_outside_mask(void);
void fault_mixed_operations(void);
void fault_mixed_votes(void);
void fault_mixed_calls(void);
void fault_bad_width(void);
void fault_grid_missed(void);
void fault_grid_not_cooperative(void);
void fault_read_past_end(void);
void fault_copy_past_end(void);
void fault_write_before_start(void);
void fault_read_null(void);
void fault_read_wild(void);
void fault_use_after_free(void);
void fault_misaligned(void);
void fault_misaligned_atomic(void);
void fault_stack_overflow(void);
void fault_read_past_local(void);
void fault_atomic(void);
void fault_dynamic_shared_overrun(void);
void fault_write_without_line(
    void); // on x86-64, by an instruction that the debug information gives no line
void fault_dynamic_shared_overrun_far(void);
void fault_divide_by_zero(void);
void fault_trap(void);
void fault_assert(void);
void fault_launch_in_kernel(void);
void fault_in_every_block(void);  // in 4 blocks that run at the same time, see EMU_WORKERS
void fault_large_deadlock(void);  // in a block of 1024 threads
void fault_read_past_small(void); // the allocation is no whole page

// These launch a kernel as no GPU can: with a block, a grid, and shared memory that are too large.
void refused_block(void);
void refused_grid(void);
void refused_shared_memory(void);
void refused_room(void);

#ifdef __cplusplus
}
#endif
#endif
