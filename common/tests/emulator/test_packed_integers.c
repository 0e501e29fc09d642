#include "semantics.h"

#include <criterion/criterion.h>

Test(packed_integers, all) { EXPECT(packed_integers); }
