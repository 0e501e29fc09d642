#define _GNU_SOURCE
#include "semantics.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(cooperative, ring) { EXPECT(cooperative_ring); }
Test(cooperative, barrier) { EXPECT(cooperative_barrier); }

// Every GPU from 7.0 on has the library's barrier.
Test(cooperative, library_barrier) {
  setenv("EMU_GPU", "a100", 1);
  EXPECT(library_barrier);
}
