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

// Equal rows have equal scores, of either sign: at one of these scales they are around -400, where a
// row max that starts at 0 instead of -infinity makes every exponential vanish.
Test(inputs, all_scores_far_below_zero) {
  for (int sign = -1; sign <= 1; sign += 2) {
    attention_shape shape = suite_shape(ATTENTION_FP16, 70, 70, 64, false);
    shape.scale = (float)sign * 50.0f;
    suite_expect_right(shape, INPUTS_EQUAL);
  }
}
