// Tests of CUDA's promises in small kernels: each function launches some, compares the
// results with the host's, and fails with a sentence. They are ordinary CUDA: with nvcc
// they show on a GPU that the tests are right, and on the CPU that the emulator is.
#ifndef SEMANTICS_H
#define SEMANTICS_H

#include "error/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// block.cu
bool block_indices(error_text *error);
bool block_barriers(error_text *error);
bool block_barrier_after_exits(error_text *error);
bool block_barrier_predicates(error_text *error);
bool block_static_shared(error_text *error);
bool block_dynamic_shared(error_text *error);
bool block_dynamic_shared_places(error_text *error);
bool block_atomics(error_text *error);
bool block_spin_lock(error_text *error);
bool block_flags(error_text *error);
bool block_last_one(error_text *error);

// clusters.cu
bool clusters_places(error_text *error);
bool clusters_sums(error_text *error);
bool clusters_histogram(error_text *error);
bool clusters_ring(error_text *error);
bool clusters_exits(error_text *error);
bool clusters_flag(error_text *error);

// cluster_launches.cu
bool cluster_launches_refused(error_text *error);
bool cluster_launches_occupancy(error_text *error);

// cluster_dims.cu
bool cluster_dims_forms(error_text *error);
bool cluster_dims_refused(error_text *error);
bool cluster_dims_attributes(error_text *error);
bool cluster_dims_occupancy(error_text *error);
bool cluster_dims_views(error_text *error);
bool cluster_dims_barrier(error_text *error);

// cooperative.cu
bool cooperative_ring(error_text *error);
bool cooperative_barrier(error_text *error);
bool cooperative_room(error_text *error);
bool library_barrier(error_text *error);

// captures.cu
bool capture_of_one_stream(error_text *error);
bool capture_of_a_fork(error_text *error);
bool capture_of_a_symbol(error_text *error);
bool capture_refuses(error_text *error);

// warp.cu
bool warp_shuffles(error_text *error);
bool warp_shuffle_types(error_text *error);
bool warp_sub_masks(error_text *error);
bool warp_votes(error_text *error);
bool warp_matches(error_text *error);
bool warp_reductions(error_text *error);
bool warp_active_mask(error_text *error);
bool warp_partial(error_text *error);

// numbers.cu
bool numbers_conversions(error_text *error);
bool numbers_arithmetic(error_text *error);
bool numbers_fused(error_text *error);
bool numbers_rounding_directions(error_text *error);

// number_functions.cu
bool numbers_comparisons(error_text *error);
bool numbers_functions(error_text *error);
bool numbers_pairs(error_text *error);

// functions.cu
bool functions_vector_types(error_text *error);
bool functions_math(error_text *error);
bool functions_bits(error_text *error);
bool functions_casts(error_text *error);

// exact_functions.cu
bool functions_roundings(error_text *error);
bool functions_complex(error_text *error);

// packed_integers.cu
bool packed_integers(error_text *error);

// launches.cu
bool launches_errors(error_text *error);
bool launches_static_shared(error_text *error);
bool launches_arguments(error_text *error);
bool launches_symbols(error_text *error);
bool launches_streams_and_events(error_text *error);
bool launches_from_host_threads(error_text *error);
bool launches_copies(error_text *error);

// ptx.cu
bool ptx_matrices(error_text *error);
bool ptx_products(error_text *error);
bool ptx_exponential(error_text *error);

// wmma.cu
bool wmma_places(error_text *error);

// wmma_products.cu
bool wmma_products(error_text *error);
bool wmma_in_a_kernel(error_text *error);

// async_copy.cu
bool async_copy_sizes(error_text *error);
bool async_copy_stages(error_text *error);
bool async_copy_addresses(error_text *error);

// hopper.cu
bool hopper_barriers(error_text *error);
bool hopper_box_copies(error_text *error);
bool hopper_tensor_maps(error_text *error);
bool hopper_roles(error_text *error);
bool hopper_votes(error_text *error);
bool hopper_election(error_text *error);

// hopper_products.cu
bool hopper_products(error_text *error);

#ifdef __cplusplus
}
#endif

// For the Criterion side: EXPECT(block_barriers).
#define EXPECT(function)                                                                           \
  do {                                                                                             \
    error_text expect_error;                                                                       \
    cr_assert(function(&expect_error), "%s", expect_error.text);                                   \
  } while (0)

#endif
