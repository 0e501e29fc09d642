#include "semantics.h"

#include <criterion/criterion.h>

Test(atomics, atomics) { EXPECT(block_atomics); }
// Threads that poll must let others run; otherwise these two do not end.
Test(atomics, spin_lock, .timeout = 60) { EXPECT(block_spin_lock); }
Test(atomics, flags, .timeout = 60) { EXPECT(block_flags); }
Test(atomics, last_one) { EXPECT(block_last_one); }
