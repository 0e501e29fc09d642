// Blocks of a cluster take turns: what each does must count as if it ran alone.
#include "clusters.h"

#include "emulator/count.h"

#include <criterion/criterion.h>

static void check_counts(bool (*run)(void)) {
  emulator_count_reset();
  cr_assert(run());
  const count_values counted = emulator_count_total();
  const struct {
    count_column column;
    uint64_t expected;
  } columns[] = {
      {COUNT_SHARED_STORE_REQUESTS, 8},
      {COUNT_SHARED_LOAD_REQUESTS, 8}, // of its own shared memory: those of the other block are not counted
      {COUNT_GLOBAL_STORE_REQUESTS, 8},
      {COUNT_GLOBAL_STORE_SECTORS, 32},
      {COUNT_GLOBAL_LOAD_REQUESTS, 0},
      {COUNT_BLOCK_BARRIERS, 8}, // two for each block
      {COUNT_DIVERGENT_BRANCHES, 0},
  };
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    cr_expect_eq(counted.value[columns[i].column], columns[i].expected, "%s is %lu, not %lu",
                 column_names[columns[i].column].name,
                 (unsigned long)counted.value[columns[i].column],
                 (unsigned long)columns[i].expected);
}

Test(clusters, counts) { check_counts(clusters_run); }
Test(clusters, counts_of_a_kernel_that_says_its_clusters) { check_counts(clusters_run_declared); }

Test(clusters, barriers_of_blocks_whose_first_thread_has_ended) {
  emulator_count_reset();
  cr_assert(clusters_run_without_first());
  cr_expect_eq(emulator_count_total().value[COUNT_BLOCK_BARRIERS], 4);
}
