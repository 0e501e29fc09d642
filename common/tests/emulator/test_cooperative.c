#define _GNU_SOURCE
#include "semantics.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(cooperative, ring) { EXPECT(cooperative_ring); }
Test(cooperative, barrier) { EXPECT(cooperative_barrier); }

// The emulator takes so few multiprocessors to be quick.
Test(cooperative, room) {
  setenv("EMU_MULTIPROCESSORS", "2", 1);
  EXPECT(cooperative_room);
}

// Every GPU from 7.0 on has the library's barrier.
Test(cooperative, library_barrier) {
  setenv("EMU_GPU", "a100", 1);
  EXPECT(library_barrier);
}
