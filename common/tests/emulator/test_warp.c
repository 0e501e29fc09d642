#include "semantics.h"

#include <criterion/criterion.h>

Test(warp, shuffles) { EXPECT(warp_shuffles); }
Test(warp, shuffle_types) { EXPECT(warp_shuffle_types); }
Test(warp, sub_masks) { EXPECT(warp_sub_masks); }
Test(warp, votes) { EXPECT(warp_votes); }
Test(warp, matches) { EXPECT(warp_matches); }
Test(warp, reductions) { EXPECT(warp_reductions); }
Test(warp, active_mask) { EXPECT(warp_active_mask); }
Test(warp, partial) { EXPECT(warp_partial); }
