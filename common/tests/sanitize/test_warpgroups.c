// Products of two warpgroups, and what few products show.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(warpgroups, products) {
  static const fault_case cases[] = {
      CASE(product_of_second_warpgroup, "Race reported between ", "<- second warpgroup",
           "by thread (128,0,0)", "<- fetch"),
      CASE(product_of_second_left, "<- second left alone", "by thread (128,0,0)",
           "hint: wgmma_wait<0>() before the thread ends is missing"),
      CASE(product_last_register, "<- last register product", "<- last register read",
           "hint: wgmma_wait() for the product's group must come first"),
      CASE(product_operand_read, "<- product of registers", "<- read beside it",
           "hint: wgmma_wait() for the product's group must come first"),
      CASE(product_operand_written, "<- second of a group", "<- use of its registers",
           "hint: wgmma_wait() for the product's group must come first"),
      CASE(product_second_of_group, "<- second of a group", "<- use of its registers",
           "hint: wgmma_wait() for the product's group must come first"),
      CASE(product_uncommitted_read, "<- uncommitted product", "<- uncommitted read",
           "hint: the product is in no group yet, and a wait is for groups: wgmma_commit() must"),
  };
  RUN_CASES(cases);
}

Test(warpgroups, fences) {
  static const fault_case cases[] = {
      CASE(product_unfenced_last_of_d, "<- unfenced access", "<- unfenced product",
           "hint: wgmma_fence() between the two is missing"),
      CASE(product_unfenced_last_of_a, "<- unfenced access", "<- unfenced product",
           "hint: wgmma_fence() between the two is missing"),
      CASE(product_unfenced_half_of_pair, "<- unfenced access", "<- unfenced product",
           "hint: wgmma_fence() between the two is missing"),
      CASE(product_unfenced_read_of_d, "<- unfenced access", "<- unfenced product",
           "hint: wgmma_fence() between the two is missing"),
      CASE(product_of_writes_fenced_again, "<- again write", "<- again product",
           "hint: the thread that writes must execute writes_for_wgmma()"),
      CASE(product_of_other_shape, "<- wide product", "<- narrow product",
           "hint: products under way share registers only as one D, all of it and of the same "),
      CASE(product_of_stale_rows, "<- stale write", "<- product of stale rows",
           "hint: the thread that writes must execute writes_for_wgmma()"),
  };
  RUN_CASES(cases);
}
