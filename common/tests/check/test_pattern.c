// The words for a pattern say which elements are bad and no others. They stay in the room that they are given, however
// much there is to tell.
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

// Rows of one head, of which those with an 'x' are bad.
static void expect(const char *rows, const char *words) {
  pattern bad;
  char text[256];
  cr_assert(pattern_create(&bad, 1, strlen(rows), 0));
  for (size_t i = 0; rows[i]; i++)
    if (rows[i] == 'x') pattern_add(&bad, 0, i, 0);
  pattern_describe(&bad, text, sizeof text);
  pattern_free(&bad);
  cr_expect_str_eq(text, words, "%s: %s", rows, text);
}

Test(pattern, names_what_is_bad) {
  expect("x", "the only head; the only row");
  expect("xxxxxxxxxxxx", "the only head; every row");
  expect("xxxxxxxxxxx.", "the only head; rows 0 to 10");
  expect(".xxxxxxxxxxx", "the only head; the last 11 rows");
  expect(".........xx.", "the only head; rows 9 to 10");
  expect("...x........", "the only head; row 3");
  expect("...x.x......", "the only head; 2 of 12 rows, 3 to 5");
  expect("...xx.x.....", "the only head; 3 of 12 rows, 3 to 6");
  expect(".x.x.x.x.x.x", "the only head; one row in 2 (1, 3, ...)");
  expect("..x...x...x.", "the only head; one row in 4 (2, 6, ...)");
  expect("..x...x.....", "the only head; 2 of 12 rows, 2 to 6");
  expect(".xx..xx..xx.", "the only head; rows 1 to 2 of every 4");
  expect(".xx..xx..x..", "the only head; 5 of 12 rows, 1 to 9");
}

// A fault in each tile of 64 or 128 rows.
Test(pattern, names_what_is_bad_in_large_tiles) {
  enum { COUNT = 3 * 128 };
  char rows[COUNT + 1] = "";
  for (size_t i = 0; i < COUNT; i++) rows[i] = i % 64 == 5 ? 'x' : '.';
  expect(rows, "the only head; one row in 64 (5, 69, ...)");
  for (size_t i = 0; i < COUNT; i++) rows[i] = i % 128 >= 5 && i % 128 <= 70 ? 'x' : '.';
  expect(rows, "the only head; rows 5 to 70 of every 128");
}

Test(pattern, counts_each_nan_once) {
  pattern bad;
  char text[512];
  cr_assert(pattern_create(&bad, 1, 2, 0));
  for (int i = 0; i < 6; i++) pattern_add(&bad, 0, 1, 0);
  for (int i = 0; i < 3; i++) pattern_add_not_finite(&bad, false, POISON_NONE);
  for (int i = 0; i < 2; i++) pattern_add_not_finite(&bad, true, POISON_SHARED);
  pattern_add_not_finite(&bad, true, POISON_NONE);
  pattern_describe(&bad, text, sizeof text);
  pattern_free(&bad);
  cr_expect_str_eq(text,
                   "the only head; row 1; 3 were never written, or are NaN with the same "
                   "bits; 2 are NaN, computed from shared memory that no thread had written; "
                   "1 are NaN or infinite",
                   "%s", text);
}
