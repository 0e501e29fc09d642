// The words for a pattern stay in the room that they are given, however much there is to tell.
#include "check/pattern.h"
#include <criterion/criterion.h>
#include <string.h>

enum { HEADS = 1000, ROWS = 100000, COLUMNS = 128, ROOM = 2048 };

// NaNs of all kinds, at irregular places, so that each part of the description is long.
static pattern of_all_kinds(void) {
  pattern all;
  cr_assert(pattern_create(&all, HEADS, ROWS, COLUMNS));
  for (size_t i = 0; i < 900; i++) {
    pattern_add(&all, i * i % HEADS, 50000 + i * i % 40000, i * i % 97);
    const poison kind = (poison)(i % (POISON_KINDS + 1));
    pattern_add_not_finite(&all, kind < POISON_KINDS, kind < POISON_KINDS ? kind : POISON_NONE);
  }
  return all;
}

Test(pattern, stays_in_its_room) {
  pattern all = of_all_kinds();
  char whole[ROOM], text[ROOM];
  const size_t length = pattern_describe(&all, whole, sizeof whole);
  cr_assert_eq(length, strlen(whole));
  cr_expect_gt(length, 512, "%zu: it would fit anywhere", length);
  for (poison kind = POISON_NONE + 1; kind < POISON_KINDS; kind++)
    cr_expect(strstr(whole, poison_origin(kind)), "\"%s\" lacks \"%s\"", whole,
              poison_origin(kind));
  cr_expect(strstr(whole, " were never written") && strstr(whole, " are NaN or infinite"), "%s",
            whole);
  for (size_t size = 1; size <= length + 1; size++) {
    memset(text, '#', sizeof text);
    cr_assert_eq(pattern_describe(&all, text, size), size - 1, "of %zu bytes", size);
    cr_assert(strlen(text) == size - 1 && strncmp(text, whole, size - 1) == 0, "%zu: %s", size,
              text);
    for (size_t i = size; i < sizeof text; i++)
      cr_assert_eq(text[i], '#', "%zu bytes: byte %zu was overwritten", size, i);
  }
  pattern_free(&all);
}
