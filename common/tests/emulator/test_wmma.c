#include "semantics.h"

#include <criterion/criterion.h>

Test(wmma, places) { EXPECT(wmma_places); }
