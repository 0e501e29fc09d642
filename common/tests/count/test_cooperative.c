// Each block of a cooperative launch has an OS thread of its own, and all count together.
#include "cooperative.h"

#include "emulator/count.h"

#include <criterion/criterion.h>

Test(cooperative, counts) {
  emulator_count_reset();
  cr_assert(cooperative_run());
  const count_values counted = emulator_count_total();
  const struct {
    count_column column;
    uint64_t expected;
  } columns[] = {
      {COUNT_GLOBAL_LOAD_REQUESTS, 8},
      {COUNT_GLOBAL_STORE_REQUESTS, 16},
      {COUNT_BLOCK_BARRIERS, 8}, // the grid's barrier is two for each block
  };
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    cr_expect_eq(counted.value[columns[i].column], columns[i].expected, "%s is %lu, not %lu",
                 column_names[columns[i].column].name,
                 (unsigned long)counted.value[columns[i].column],
                 (unsigned long)columns[i].expected);
}
