#include "semantics.h"

#include <criterion/criterion.h>

Test(block, indices) { EXPECT(block_indices); }
Test(block, barriers) { EXPECT(block_barriers); }
Test(block, barrier_after_exits) { EXPECT(block_barrier_after_exits); }
Test(block, barrier_predicates) { EXPECT(block_barrier_predicates); }
Test(block, static_shared) { EXPECT(block_static_shared); }
Test(block, dynamic_shared) { EXPECT(block_dynamic_shared); }
Test(block, dynamic_shared_places) { EXPECT(block_dynamic_shared_places); }
