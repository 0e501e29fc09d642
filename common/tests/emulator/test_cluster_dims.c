#include "semantics.h"

#include <criterion/criterion.h>

Test(cluster_dims, forms) { EXPECT(cluster_dims_forms); }
Test(cluster_dims, refused) { EXPECT(cluster_dims_refused); }
Test(cluster_dims, attributes) { EXPECT(cluster_dims_attributes); }
Test(cluster_dims, occupancy) { EXPECT(cluster_dims_occupancy); }
Test(cluster_dims, views) { EXPECT(cluster_dims_views); }
Test(cluster_dims, barrier) { EXPECT(cluster_dims_barrier); }
