// Kernels that break the rules of products and of the registers of warp groups, for test_product_faults.c. Only the
// emulator runs them.
#ifndef PRODUCT_FAULTS_H
#define PRODUCT_FAULTS_H

#include "healthy.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The line of the operation that a report names, in the kernel that was launched last.
extern int fault_line;

// Each launches its kernel once. // Products:
void fault_product_layout(void);    // a descriptor without swizzle
void fault_product_alignment(void); // B at 128 bytes past a multiple of 1024
void fault_product_past_shared(void);
void fault_product_short_group(void);  // of 96 threads
void fault_product_differs(void);      // warp 2 gives another tile
void fault_product_fewer(void);        // warp 3 commits a group of none
void fault_product_warp_missing(void); // warp 3 starts none
void fault_product_copies(void);       // warps 2 and 3 take another copy of an inlined function
void fault_product_lines(void);        // warps 2 and 3 start theirs in another line
void fault_product_waits(void);        // warps 2 and 3 wait in another line
void fault_product_last_wait(void);    // the last warp does not wait, and nothing follows
void fault_product_first_wait(void);   // the first does not
void fault_product_groups(void);       // 17 groups without a wait

// Registers:
void fault_registers_number(void); // 36
void fault_registers_none(void);   // both of two warpgroups want 256 more than there are
void fault_registers_warp(void);   // warp 1 does not come
void fault_registers_few(void);    // 16
void fault_registers_many(void);   // 264
void fault_registers_not_fewer(void);
void fault_registers_not_more(void);
void fault_registers_threads(void); // in a block of 160
void fault_registers_differ(void);  // warps 2 and 3 ask for another number
void right_registers(void);

// The values that thread 0 sees of products: after the commit, after a wait without a commit, after the wait; with an
// operand (registers, shared memory) overwritten early.
enum { SEEN_OF_PRODUCTS = 5 };
void seen_of_products(float *seen);

#ifdef __cplusplus
}
#endif
#endif
