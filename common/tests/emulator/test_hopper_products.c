#include "semantics.h"

#include <criterion/criterion.h>

Test(hopper_products, from_shared_memory_and_from_registers) { EXPECT(hopper_products); }
