#include "semantics.h"

#include <criterion/criterion.h>

Test(cooperative, ring) { EXPECT(cooperative_ring); }
Test(cooperative, barrier) { EXPECT(cooperative_barrier); }
