#include "semantics.h"

#include <criterion/criterion.h>

Test(hopper, barriers) { EXPECT(hopper_barriers); }
Test(hopper, box_copies) { EXPECT(hopper_box_copies); }
Test(hopper, tensor_maps) { EXPECT(hopper_tensor_maps); }
Test(hopper, roles) { EXPECT(hopper_roles); }
Test(hopper, votes) { EXPECT(hopper_votes); }
Test(hopper, election) { EXPECT(hopper_election); }
