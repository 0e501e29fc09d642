// Kernels with one fault each, and their twins without it, for the tests beside this file.
#ifndef SANITIZE_FAULTS_H
#define SANITIZE_FAULTS_H

#include "asynchronous_faults.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Runs the kernel, with its fault when `broken`. The tests list the expected reports.
typedef void (*fault_run)(bool broken);

// memory.cu
void past_the_end(bool broken);
void before_the_start(bool broken);
void null_pointer(bool broken);
void host_pointer(bool broken);
void freed_memory(bool broken);
void past_mapped_memory(bool broken);
void straddles_the_end(bool broken);
void past_first_shared(bool broken);
void past_last_shared(bool broken);
void past_dynamic_shared(bool broken);
void index_past_row(bool broken);
void negative_index(bool broken);
void index_of_half(bool broken);
void index_of_member(bool broken);
void misaligned_shared(bool broken);
void misaligned_global(bool broken);
void unwritten_shared(bool broken);
void unwritten_global(bool broken);
void unwritten_copied(bool broken);
void unwritten_member(bool broken);
void unwritten_end(bool broken);
void unwritten_tile(bool broken);
void unwritten_atomic(bool broken);
void states_of_xorwow(bool broken);
void states_of_philox(bool broken);
void straddles_first_shared(bool broken);
void straddles_dynamic_shared(bool broken);
void past_into_other_kernel(bool broken);

// bytes.cu
void bytes_read_before_barrier(bool broken);
void bytes_of_the_standard_library(bool broken);
void bytes_unwritten(bool broken);
void bytes_set_by_one(bool broken);
void bytes_past_the_end(bool broken);

// races.cu
void read_before_barrier(bool broken);
void write_before_barrier(bool broken);
void write_by_two_warps(bool broken);
void neighbours_in_shared(bool broken);
void read_by_other_lane(bool broken);
void shuffle_is_no_barrier(bool broken);
void half_warp_barrier(bool broken);
void read_by_other_warp(bool broken);
void read_by_own_warp(bool broken);
void read_of_first_byte(bool broken);
void read_of_second_byte(bool broken);
void fragment_without_barrier(bool broken);
void fragment_of_other_warp(bool broken);
void blocks_write_same(bool broken);
void two_instances(bool broken);
void block_reads_other(bool broken);
void block_writes_what_others_read(bool broken);
void global_within_block(bool broken);
void race_further_apart(bool broken);
void variable_of_program(bool broken);
void atomic_and_plain(bool broken);
void flag_not_read(bool broken);
void lock(bool broken);

// shuffles.cu
void shuffle_of_other_mask(bool broken);
void shuffle_of_no_thread(bool broken);

// counters.cu
void last_block(bool broken);
void last_block_without_fence(bool broken);
void last_block_unacquired(bool broken);
void last_block_relaxed(bool broken);
void last_block_by_barrier(bool broken);
void last_block_by_warp_barrier(bool broken);
void last_warp_unacquired(bool broken);
void last_block_by_shuffle(bool broken);
void last_block_of_thread_gone(bool broken);
void last_block_by_turn(bool broken);
void last_block_uncounted(bool broken);
void last_block_counts_for_itself(bool broken);
void counter_cleared(bool broken);

// guesses.cu
void guess_alone(bool broken);
void guess_used(bool broken);
void guess_wider(bool broken);
void guess_narrower_before(bool broken);
void guess_narrower_behind(bool broken);
void guess_slept(bool broken);
void guess_written(bool broken);
void guess_added(bool broken);
void guess_stopped(bool broken);
void guess_upper_half(bool broken);
void guess_five(bool broken);

// clusters.cu
void cluster_read_before_barrier(bool broken);
void cluster_write_before_barrier(bool broken);
void cluster_write_behind_arrival(bool broken);
void cluster_sum_before_barrier(bool broken);
void cluster_add_before_barrier(bool broken);
void cluster_threads_left(bool broken);
void cluster_global_before_barrier(bool broken);
void cluster_some_wait(bool broken);
void cluster_relaxed_arrival(bool broken);
void cluster_not_begun(bool broken);
void cluster_ended(bool broken);
void cluster_ended_of_second(bool broken);
void cluster_add_after_end(bool broken);
void cluster_unwritten(bool broken);
void cluster_past_dynamic(bool broken);
void cluster_straddles_dynamic(bool broken);
void cluster_past_static(bool broken);

// cluster_order.cu
void cluster_gone_before_barrier(bool broken);
void cluster_met_before_end(bool broken);
void cluster_reads_of_first(bool broken);
void cluster_ended_before_second(bool broken);
void cluster_ended_behind_flag(bool broken);
void cluster_read_before_wait(bool broken);
void cluster_flag_not_read(bool broken);
void cluster_relaxed_before(bool broken);
void cluster_relaxed_beside(bool broken);
void cluster_refill_by_writers(bool broken);
void cluster_refill_by_copier(bool broken);
void cluster_refill_by_copier_early(bool broken);
void cluster_refill_by_ended(bool broken);
void cluster_refill_by_first(bool broken);
void cluster_refill_by_second(bool broken);
void cluster_refill_by_flag(bool broken);

// early.cu
void early_without_wait(bool broken);
void early_behind_transfer(bool broken);
void early_behind_host(bool broken);
void early_behind_query(bool broken);
void early_behind_event(bool broken);
void early_in_other_stream(bool broken);
void early_behind_graph(bool broken);
void early_cluster_waits(bool broken);
void early_one_waits(bool broken);
void early_overwrites(bool broken);
void early_last_block(bool broken);

// cooperative.cu
void cooperative_words(bool broken);
void cooperative_flag(bool broken);
void cooperative_plain_word(bool broken);
void cooperative_grid(bool broken);
void cooperative_cluster(bool broken);
void cooperative_cluster_of_one(bool broken);
void cooperative_missing(bool broken);
void cooperative_stuck(bool broken);
void cooperative_too_many(bool broken); // broken or not
void stage_released_early(bool broken);
void stage_never_released(bool broken); // broken or not

// waits.cu
void copy_read_early(bool broken);
void copy_read_by_others(bool broken);
void copy_waited_behind_barrier(bool broken);
void copy_overwrites_stage(bool broken);
void copy_written_over(bool broken);
void copy_twice(bool broken);
void copy_not_waited(bool broken);
void copy_not_committed(bool broken);
void copy_read_in_no_group(bool broken);
void copy_prior_off_by_one(bool broken);
void copy_past_the_end(bool broken);
void copy_misaligned(bool broken);
void rows_read_early(bool broken);
void rows_of_other_lane(bool broken);
void barrier_after_exit(bool broken);
void barrier_elsewhere(bool broken);
void barrier_of_some(bool broken);
void barrier_of_fewer(bool broken);
void barrier_of_flag(bool broken);
void barrier_in_rounds(bool broken);
void barrier_in_condition(bool broken);
void barrier_elsewhere_again(bool broken);

// roles.cu
void box_read_early(bool broken);
void box_waited_by_one(bool broken);
void box_overwrites(bool broken);
void box_waited_by_ended(bool broken);
void phase_waited_by_ended(bool broken);
void box_never_waited(bool broken);
void box_counts_on_hidden(bool broken);
void box_counts_on_shown_late(bool broken);
void box_counts_on_shown_by_other(bool broken);
void barrier_made_again(bool broken);
void phase_arrived_early(bool broken);
void phase_of_other_lane(bool broken);
void phase_of_half_warp(bool broken);
void phase_waited_by_lane(bool broken);
void turn_passed_early(bool broken);
void turn_passed_at_once(bool broken);
void turn_passed_twice(bool broken);

// managed.cu
void managed_sum(bool broken);
void managed_bytes(bool broken);
void managed_copied(bool broken);
// gaps.cu
void unwritten_last_half(bool broken);
void unwritten_last_bytes(bool broken);
void unwritten_read_again(bool broken);
void unwritten_first_double(bool broken);
void unwritten_third_float(bool broken);

// orders.cu
void phase_arrived_for_next(bool broken);
void phase_left_out_by_arriver(bool broken);
void flag_raised_early(bool broken);
void barrier_in_other_file(bool broken);
void barrier_missed_on_and_on(bool broken);
void race_beside_early_read(bool broken);

// heap.cu
void heap_past_the_end(bool broken);
void heap_shared_without_barrier(bool broken);
void heap_unwritten(bool broken);

// returned.cu
void returned_structs(bool broken);
void returned_halves(bool broken);
void short_functions(bool broken);
void passed_halves(bool broken);
void united_halves(bool broken);

// sources.cu
void source_written_by_itself(bool broken);
void source_written_right_before(bool broken);
void source_written_by_others(bool broken);
void source_written_before_wait(bool broken);
void source_written_in_place(bool broken);
void source_written_at_its_end(bool broken);
void box_source_written(bool broken);
void box_source_written_by_others(bool broken);
void box_map_on_host(bool broken);

// transfers.cu; on two devices
void copy_not_waited_for(bool broken);
void copy_to_fresh_memory(bool broken);
void fill_not_waited_for(bool broken);
void copy_within_device(bool broken);
void source_overwritten(bool broken);
void gather_not_waited_for(bool broken);
void send_buffer_overwritten(bool broken);
void flag_too_early(bool broken);
void other_device(bool broken);

#ifdef __cplusplus
}
#endif
#endif
