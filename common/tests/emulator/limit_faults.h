// Kernels that never end, for test_limit_faults.c, and one that only takes long.
#ifndef LIMIT_FAULTS_H
#define LIMIT_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where the kernels' source has the endless loops; set when a kernel gets there.
extern int line_loop;

// Each function launches its kernel once.
void endless_loop(void);             // without a call, in one thread; the others wait at a barrier
void endless_loop_in_blocks(void);   // in every thread of every block
void endless_loop_in_headers(void);  // which the kernel calls
void endless_loop_in_function(void); // which is not inlined
void endless_spin(void);             // on a flag; the thread that would set it never runs
void endless_poll(void);             // as endless_spin, with atomicAdd, which lets the others run
void endless_cooperative_poll(void); // the same in each of 16 blocks that run at the same time
void endless_sleep(void);
void endless_barriers(void);
void endless_votes(void);

// Each block ends after some tens of milliseconds, all blocks together after more than half a second.
void many_blocks(void);

// A launch without a fault; true when its result is right.
bool healthy_launch(void);

#ifdef __cplusplus
}
#endif
#endif
