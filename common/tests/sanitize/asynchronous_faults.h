// The faults with mbarriers, products of warpgroups and fences between proxies. faults.h includes this file.
#ifndef SANITIZE_ASYNCHRONOUS_FAULTS_H
#define SANITIZE_ASYNCHRONOUS_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// phases.cu
void phase_missed(bool broken);
void phase_missed_behind_many(bool broken);
void phase_missed_by_warp(bool broken);
void phase_of_warpgroup(bool broken);
void phase_left_out(bool broken);
void phase_known_by_barrier(bool broken);
void phase_end_known(bool broken);
void phase_seen_by_barrier(bool broken);
void phase_seen_by_arrival(bool broken);
void phase_left_out_later(bool broken);
void phase_seen_by_lane(bool broken);

// phase_copies.cu
void phase_of_copy_missed(bool broken);
void phase_of_copy_known(bool broken);
void phase_of_two_copiers(bool broken);
void phase_of_announced_copy(bool broken);

// products.cu
void product_reads_early(bool broken);
void product_waited_by_some(bool broken);
void product_overwritten(bool broken);
void product_of_newest_group(bool broken);
void product_of_hidden_writes(bool broken);
void product_of_writes_shown_late(bool broken);
void product_result_early(bool broken);
void product_operand_changed(bool broken);
void product_of_parts(bool broken);
void product_of_result(bool broken);
void product_over_operand(bool broken);
void product_not_waited(bool broken);
void product_not_committed(bool broken);
void product_without_fence(bool broken);
void product_operand_unfenced(bool broken);
void product_sum_unfenced(bool broken);

// warpgroups.cu
void product_of_second_warpgroup(bool broken);
void product_of_second_left(bool broken);
void product_last_register(bool broken);
void product_operand_read(bool broken);
void product_operand_written(bool broken);
void product_second_of_group(bool broken);
void product_uncommitted_read(bool broken);
void product_unfenced_last_of_d(bool broken);
void product_unfenced_last_of_a(bool broken);
void product_unfenced_half_of_pair(bool broken);
void product_unfenced_read_of_d(bool broken);
void product_of_writes_fenced_again(bool broken);
void product_of_other_shape(bool broken);
void product_of_stale_rows(bool broken);

// proxies.cu
void refill_unfenced(bool broken);
void refill_unfenced_by_readers(bool broken);
void refill_fenced_too_soon(bool broken);
void refill_of_written(bool broken);
void refill_of_other_role(bool broken);
void refill_behind_shuffle(bool broken);
void refill_unfenced_by_warp(bool broken);
void refill_unfenced_by_lane(bool broken);
void refill_in_next_block(bool broken);
void refill_after_old_fence(bool broken);
void refill_for_warp(bool broken);
void refill_fenced_by_third(bool broken);
void refill_fenced_by_ended(bool broken);
void refill_behind_atomic(bool broken);
void refill_by_another(bool broken);

#ifdef __cplusplus
}
#endif
#endif
