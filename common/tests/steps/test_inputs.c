// Right for every kind of numbers, each made to bring out another mistake (inputs/inputs.h).
#include "suite.h"
#include <criterion/criterion.h>

static void expect_right_on(inputs_kind kind) {
  for (int causal = 0; causal <= 1; causal++) {
    suite_expect_right(suite_shape(ATTENTION_FP16, 130, 130, 64, causal), kind);
    suite_expect_right(suite_shape(ATTENTION_BF16, 130, 130, 64, causal), kind);
    suite_expect_right(suite_shape(ATTENTION_FP16, 70, 150, 40, causal), kind);
  }
}

Test(inputs, normal) { expect_right_on(INPUTS_NORMAL); }
Test(inputs, large) { expect_right_on(INPUTS_LARGE); }
Test(inputs, equal) { expect_right_on(INPUTS_EQUAL); }
Test(inputs, onehot) { expect_right_on(INPUTS_ONEHOT); }
Test(inputs, ramp) { expect_right_on(INPUTS_RAMP); }
Test(inputs, limit) { expect_right_on(INPUTS_LIMIT); }
