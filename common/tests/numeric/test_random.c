// Records name the seeds of their inputs, so a seed must give the same numbers for ever.
#include "numeric/random.h"
#include <criterion/criterion.h>

// Those of the method's reference implementation (Vigna, splitmix64.c).
Test(random, known_numbers) {
  static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                      9817491932198370423u};
  uint64_t state = 1234567;
  for (int i = 0; i < 3; i++) cr_expect_eq(random_next(&state), expected[i], "number %d", i);
}

Test(random, any_number_can_be_had_at_once) {
  static const uint64_t seeds[] = {0, 1, UINT64_MAX};
  for (int s = 0; s < 3; s++) {
    uint64_t state = seeds[s];
    for (uint64_t i = 0; i < 1000; i++)
      cr_assert_eq(random_at(seeds[s], i), random_next(&state), "seed %d, number %d", s, (int)i);
  }
}
