// Compares the counts of the calibration kernels with answers computed by hand.
#include "calibration/calibration.h"
#include "emulator/count.h"

#include <criterion/criterion.h>

Test(calibration, answers) {
  void *in, *out;
  cr_assert_eq(cudaMalloc(&in, CALIBRATION_FLOATS * sizeof(float)), cudaSuccess);
  cr_assert_eq(cudaMalloc(&out, CALIBRATION_FLOATS * sizeof(float)), cudaSuccess);
  cr_assert_gt(calibration_count(), 12);
  for (size_t i = 0; i < calibration_count(); i++) {
    const calibration_case kernel = calibration_at(i);
    emulator_count_reset();
    cr_assert_eq(calibration_launch(i, in, out), cudaSuccess, "%s", kernel.name);
    const count_values counted = emulator_count_total();
    for (int column = 0; column < COUNT_COLUMNS; column++) {
      cr_expect_eq(counted.value[column], kernel.expected.value[column], "%s: %s is %lu, not %lu",
                   kernel.name, column_names[column].name, (unsigned long)counted.value[column],
                   (unsigned long)kernel.expected.value[column]);
    }
  }
}
