// A load whose value is passed to a conversion belongs to the line that passes it.
#include "conversions.h"

#include "emulator/count.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(conversions, lines) {
  emulator_count_reset();
  const int line = conversions_run();
  cr_assert_gt(line, 0);
  emulator_line_counts *lines;
  const size_t count = emulator_count_lines(&lines);
  cr_assert_neq(count, SIZE_MAX);
  for (size_t i = 0; i < count; i++) {
    const bool here = strcmp(lines[i].file, "common/tests/count/conversions.cu") == 0;
    cr_expect_eq(lines[i].counts.value[COUNT_GLOBAL_LOAD_REQUESTS],
                 here && lines[i].line == line ? 128 : 0, "%s:%d", lines[i].file, lines[i].line);
  }
  free(lines);
}
