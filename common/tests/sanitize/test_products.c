// Products of a warp group that are not waited for, not fenced, or read too early.
#define _GNU_SOURCE
#include "fault_cases.h"

#define UNDER_WAY(access)                                                                          \
  "Race reported between an asynchronous copy under way and " access " of __shared__ memory"
#define RACE(first, second) "Race reported between " first " and " second " of __shared__ memory"

Test(products, products) {
  static const fault_case cases[] = {
      CASE(product_reads_early, UNDER_WAY("read by a product"), "<- fetch", "<- early product",
           "hint: each thread that uses what a copy brings must wait",
           "if it does: have the bytes been announced, and has its"),
      CASE(product_waited_by_some, "Race reported between ", "read by a product", "<- fetch",
           "<- product of some", "hint: each thread that uses what a copy brings must"),
      CASE(product_overwritten, RACE("read by a product", "write by a box copy"),
           "<- overwritten product", "<- fetch",
           "hint: the copy may overwrite what a product still reads",
           "made for as many arrivals as come in a lap"),
      CASE(product_of_newest_group, RACE("read by a product", "write by a box copy"),
           "<- newest product", "<- fetch"),
      CASE(product_result_early, "between a product under way and read of its registers",
           "product at ", "<- hasty product", "read of 4 bytes at ", "<- hasty read",
           "hint: wgmma_wait() for the product's group must come first"),
      CASE(product_operand_changed, "between a product under way and write of its registers",
           "<- slow product", "<- next operand"),
      CASE(product_not_waited, "Product never waited for", "<- product left alone",
           "by thread (0,0,0)", "hint: wgmma_wait<0>() before the thread ends is missing"),
      CASE(product_not_committed, "Product never waited for", "<- product left alone",
           "hint: the product is in no group: wgmma_commit() is missing behind it"),
  };
  RUN_CASES(cases);
}

#define TWO_PRODUCTS                                                                               \
  "Race reported between a product under way and another product of its registers"

Test(products, registers) {
  static const fault_case cases[] = {
      CASE(product_of_parts, TWO_PRODUCTS, "product at ", "<- first part", "product at ",
           "<- second part", "hint: products under way share registers only as one D"),
      CASE(product_of_result, TWO_PRODUCTS, "<- link", "<- next link"),
      CASE(product_over_operand, TWO_PRODUCTS, "<- user", "<- reuse"),
  };
  RUN_CASES(cases);
}

#define HIDDEN                                                                                     \
  "Product reads __shared__ memory that a thread has written without a fence.proxy.async",         \
      "write of 2 bytes at ", "<- operand", "read by a product of ",                               \
      "<- product of written operands", "by thread (0,0,0)",                                       \
      "hint: the thread that writes must execute writes_for_wgmma() behind the write and before"

Test(products, fences) {
  static const fault_case cases[] = {
      CASE(product_without_fence, "Product without a wgmma.fence before it", "<- first product",
           "by thread (0,0,0)", "hint: wgmma_fence() must come before a thread's first product"),
      CASE(product_operand_unfenced,
           "Product whose registers were used without a wgmma.fence since", "write of 4 bytes at ",
           "<- fragment of A", "product at ", "<- product of it", "by thread (0,0,0)",
           "hint: wgmma_fence() between the two is missing"),
      CASE(product_sum_unfenced, "Product whose registers were used without a wgmma.fence since",
           "of 4 bytes at ", "<- scaled sums", "product at ", "<- product of scaled sums"),
      CASE(product_of_hidden_writes, HIDDEN),
      CASE(product_of_writes_shown_late, HIDDEN),
  };
  RUN_CASES(cases);
}
