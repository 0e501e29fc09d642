// Kernels that break the rules of tensor cores and asynchronous copies, for test_tensor_faults.c.
// Only the emulator runs them.
#ifndef TENSOR_FAULTS_H
#define TENSOR_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool healthy_launch(void);

// The line of the operation that a report names, in the kernel that was launched last.
extern int fault_line, other_fault_line;

// Each function launches its kernel once.
void fault_matrix_pointer(void); // 0x82 into dynamic shared memory
void fault_matrix_place(void);
void fault_matrix_every_second(void); // rows of 144 bytes, from the second row
void fault_matrix_stride(void);       // ldm 65 of half, static shared memory
void fault_matrix_store(void);        // ldm 66 of float by columns, global memory
void fault_matrix_missing_lane(void);
void fault_matrix_short_warp(void); // of 16 threads
void fault_matrix_pointers_differ(void);
void fault_matrix_ldm_differs(void);
void fault_matrix_layout_differs(void);
void fault_matrix_lines_differ(void);
void fault_matrix_columns_overlap(void); // ldm 0
void fault_matrix_rows_overlap(void);    // ldm 8, of 16 columns
void fault_matrix_store_overlaps(void);  // ldm 12 by columns, of 16 rows
void matrix_shortest_lines(void);        // no fault: each ldm is the length of a row or column
void fault_matrix_past_end(void);        // of an allocation
void load_fp16(void);
void load_bf16(void);    // no fault from compute capability 8.0 on
void product_fp16(void); // m16n8k16, likewise

void fault_rows_misaligned(void);    // lane 3's at 8 bytes into dynamic shared memory
void fault_rows_in_global(void);     // lane 3's at byte 16 of an allocation
void fault_rows_past_end(void);      // of dynamic shared memory
void fault_rows_across_end(void);    // half of the row
void fault_rows_missing_lane(void);  // lane 7 has exited
void fault_product_short_warp(void); // of 16 threads
void fault_product_types_differ(void);

void fault_copy_size(void);
void fault_copy_two_bytes(void);
void fault_copy_zeros(void);
void fault_copy_destination(void);        // 0x82 into dynamic shared memory
void fault_copy_static_destination(void); // 8 bytes into K_smem
void fault_copy_source(void);
void fault_copy_to_global(void);
void fault_copy_from_shared(void);
void fault_copy_past_shared(void);
void fault_copy_past_end(void); // of an allocation, by the source
void fault_shared_address_of_global(void);
void fault_global_address_of_shared(void);

// The values, as floats, that the one thread of a kernel sees: see the kernel.
enum { SEEN = 12 };
void seen_of_async_copies(float *seen);

// Counts the elements of uninitialised fragments that are not NaN.
int readable_fragment_elements(void);

// Launches 3 blocks of 2 warps that each do 5 products and 32 copies of 16 bytes per lane, the last
// copy with 12 zeros and without a wait.
void launch_counted(void);

#ifdef __cplusplus
}
#endif
#endif
