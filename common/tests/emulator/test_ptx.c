#include "semantics.h"

#include <criterion/criterion.h>

Test(ptx, matrices) { EXPECT(ptx_matrices); }
Test(ptx, products) { EXPECT(ptx_products); }
Test(ptx, exponential) { EXPECT(ptx_exponential); }
