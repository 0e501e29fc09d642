#include "semantics.h"

#include <criterion/criterion.h>

Test(clusters, places) { EXPECT(clusters_places); }
Test(clusters, sums) { EXPECT(clusters_sums); }
Test(clusters, histogram) { EXPECT(clusters_histogram); }
Test(clusters, ring) { EXPECT(clusters_ring); }
Test(clusters, exits) { EXPECT(clusters_exits); }
Test(clusters, flag) { EXPECT(clusters_flag); }
