#include "semantics.h"

#include <criterion/criterion.h>

Test(cluster_launches, refused) { EXPECT(cluster_launches_refused); }
Test(cluster_launches, occupancy) { EXPECT(cluster_launches_occupancy); }
