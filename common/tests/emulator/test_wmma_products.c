#include "semantics.h"

#include <criterion/criterion.h>

Test(wmma, products) { EXPECT(wmma_products); }
Test(wmma, in_a_kernel) { EXPECT(wmma_in_a_kernel); }
