#include "semantics.h"

#include <criterion/criterion.h>

Test(numbers, conversions) { EXPECT(numbers_conversions); }
Test(numbers, arithmetic) { EXPECT(numbers_arithmetic); }
Test(numbers, fused) { EXPECT(numbers_fused); }
Test(numbers, rounding_directions) { EXPECT(numbers_rounding_directions); }
