#include "semantics.h"

#include <criterion/criterion.h>

Test(async_copy, sizes) { EXPECT(async_copy_sizes); }
Test(async_copy, stages) { EXPECT(async_copy_stages); }
Test(async_copy, addresses) { EXPECT(async_copy_addresses); }
