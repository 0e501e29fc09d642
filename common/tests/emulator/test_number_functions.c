#include "semantics.h"

#include <criterion/criterion.h>

Test(number_functions, comparisons) { EXPECT(numbers_comparisons); }
Test(number_functions, functions) { EXPECT(numbers_functions); }
Test(number_functions, pairs) { EXPECT(numbers_pairs); }
