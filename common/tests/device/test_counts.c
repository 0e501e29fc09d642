// Each count of the emulator reaches the caller under its own name. This program stands in for the emulator.
#include "device/device.h"
#include "emulator.h"

#include <criterion/criterion.h>

emulator_counts emulator_counts_read(void) {
  return (emulator_counts){
      .launches = 1,
      .early_launches = 2,
      .blocks = 3,
      .threads = 4,
      .block_barriers = 5,
      .warp_collectives = 6,
      .fiber_switches = 7,
      .tensor_core_operations = 8,
      .async_copy_bytes = 9,
      .async_copies_dropped = 10,
      .products_over_copies = 11,
      .products_in_the_first_half = 12,
      .collectives_under_products = 13,
      .named_barriers = 14,
      .product_groups_in_turns = 15,
      .repeated_arrivals = 16,
      .copies_behind_kernels = 17,
      .grid = {18, 19, 20},
  };
}

uint64_t emulator_link_bytes(int from, int to) { return (uint64_t)(10 * from + to); }

Test(counts, have_their_own_names) {
  const device_counts counts = device_counts_read();
  cr_expect_eq(counts.launches, 1);
  cr_expect_eq(counts.early_launches, 2);
  cr_expect_eq(counts.blocks, 3);
  cr_expect_eq(counts.threads, 4);
  cr_expect_eq(counts.block_barriers, 5);
  cr_expect_eq(counts.warp_collectives, 6);
  cr_expect_eq(counts.tensor_core_operations, 8);
  cr_expect_eq(counts.async_copy_bytes, 9);
  cr_expect_eq(counts.products_over_copies, 11);
  cr_expect_eq(counts.products_in_the_first_half, 12);
  cr_expect_eq(counts.collectives_under_products, 13);
  cr_expect_eq(counts.named_barriers, 14);
  cr_expect_eq(counts.product_groups_in_turns, 15);
  cr_expect_eq(counts.repeated_arrivals, 16);
  cr_expect_eq(counts.copies_behind_kernels, 17);
  cr_expect(counts.grid[0] == 18 && counts.grid[1] == 19 && counts.grid[2] == 20);
}

Test(counts, bytes_have_a_direction) {
  cr_expect_eq(device_link_bytes(1, 2), 12);
  cr_expect_eq(device_link_bytes(2, 1), 21);
}
