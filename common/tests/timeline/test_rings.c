// Tests what the host makes of rings that have lost events, and how it numbers the key blocks of the warps that shared a
// place.
#include "timeline/ring.h"
#include "timeline/stretch.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SLOTS = 8 };

static timeline_event rings[TIMELINE_WARPS * (1 + SLOTS)];
static timeline_list list;

static timeline_event *ring_of(unsigned place) { return rings + place * (1 + SLOTS); }

static timeline_event begin_of(unsigned time, unsigned block, unsigned warp) {
  return (timeline_event){time, time, TIMELINE_BEGIN_OF_WARP, block << 5 | warp};
}

// An event that a kernel has numbered.
static timeline_event event(unsigned begin, unsigned end, timeline_kind kind, unsigned number) {
  return (timeline_event){begin, end, 1u << 5 | kind, number};
}

static void make(void) {
  error_text error;
  cr_assert(timeline_list_make(rings, SLOTS, &list, &error), "%s", error.text);
}

static void end(void) { timeline_list_free(&list); }

TestSuite(rings, .fini = end);

// The warp of place 5 has lost its begin and two events. The numbers of place 3 say nothing of it.
Test(rings, each_place_counts_its_own_events) {
  ring_of(3)[1] = begin_of(100, 7, 1);
  ring_of(3)[2] = event(110, 110, TIMELINE_COPY, 1);
  ring_of(3)[3] = event(120, 120, TIMELINE_COPY, 2);
  ring_of(5)[1] = event(130, 130, TIMELINE_COPY, 3);
  make();
  cr_assert_eq(list.count, 3);
  cr_expect_eq(list.lost, 2, "%lu", (unsigned long)list.lost);
  cr_expect(list.entries[1].block == 7 && list.entries[1].warp == 1);
  cr_expect(list.entries[2].place == 5 && list.entries[2].block == 0 && list.entries[2].warp == 5,
            "block %u, warp %u", list.entries[2].block, list.entries[2].warp);
}

// A warp that begins again counts from 1 on.
Test(rings, a_new_warp_loses_nothing) {
  ring_of(0)[1] = begin_of(100, 7, 1);
  ring_of(0)[2] = event(110, 110, TIMELINE_COPY, 1);
  ring_of(0)[3] = event(120, 120, TIMELINE_COPY, 2);
  ring_of(0)[4] = begin_of(130, 9, 2);
  ring_of(0)[5] = event(140, 140, TIMELINE_COPY, 1);
  make();
  cr_assert_eq(list.count, 3);
  cr_expect_eq(list.lost, 0);
  cr_expect(list.entries[1].block == 7 && list.entries[2].block == 9 && list.entries[2].warp == 2);
}

// Events stand in the order in which they ended, because that is when a kernel writes them.
Test(rings, events_stand_in_the_order_of_their_ends) {
  ring_of(2)[1] = begin_of(100, 0, 2);
  ring_of(2)[4] = event(110, 150, TIMELINE_BARRIER_WAIT, 2);
  ring_of(2)[3] = event(120, 120, TIMELINE_COPY, 1);
  ring_of(2)[2] = event(155, 155, TIMELINE_COPY, 3);
  make();
  cr_assert_eq(list.count, 3);
  cr_expect(list.entries[0].end == 20 && list.entries[1].end == 50 && list.entries[2].end == 55);
  cr_expect_eq(list.entries[1].begin, 10);
  cr_expect_eq(list.lost, 0);
}

static timeline_entry entry(unsigned place, unsigned block, timeline_kind kind, int64_t time) {
  return (timeline_entry){
      .place = place, .block = block, .warp = place, .kind = kind, .begin = time, .end = time};
}

// Each block begins with its first key block. A ring that has lost the begin of a warp may begin with its second product.
Test(rings, key_blocks_of_each_block_count_from_1) {
  timeline_entry entries[] = {
      entry(0, 4, TIMELINE_QUEUE_SCORES, 0), entry(0, 4, TIMELINE_QUEUE_OUTPUT, 1),
      entry(0, 4, TIMELINE_QUEUE_SCORES, 2), entry(0, 5, TIMELINE_QUEUE_SCORES, 3),
      entry(0, 5, TIMELINE_COPY, 4),         entry(0, 5, TIMELINE_QUEUE_OUTPUT, 5),
      entry(1, 5, TIMELINE_QUEUE_OUTPUT, 0), entry(1, 5, TIMELINE_QUEUE_SCORES, 1),
      entry(1, 5, TIMELINE_QUEUE_OUTPUT, 2),
  };
  static const unsigned expected[] = {1, 1, 2, 1, 0, 1, 1, 2, 2};
  enum { COUNT = sizeof entries / sizeof *entries };
  const timeline_list some = {.count = COUNT, .entries = entries};
  unsigned numbers[COUNT];
  timeline_number_key_blocks(&some, numbers);
  for (size_t i = 0; i < COUNT; i++)
    cr_expect_eq(numbers[i], expected[i], "entry %zu has number %u", i, numbers[i]);
}

// The stretch is one of the busiest warp, within one of its blocks, and of so many key blocks.
Test(rings, the_stretch_is_of_the_busiest_warp_and_of_one_block) {
  timeline_entry entries[22];
  size_t count = 0;
  for (int i = 0; i < 4; i++) entries[count++] = entry(0, 1, TIMELINE_QUEUE_SCORES, 1000 + 10 * i);
  for (int i = 0; i < 8; i++) entries[count++] = entry(1, 2, TIMELINE_QUEUE_SCORES, 100 * i);
  for (int i = 8; i < 16; i++) entries[count++] = entry(1, 3, TIMELINE_QUEUE_SCORES, 100 * i);
  const timeline_list some = {.count = count, .entries = entries};
  const timeline_stretch stretch = timeline_choose_stretch(&some, 4);
  cr_expect_eq(stretch.end - stretch.begin, 400, "%ld to %ld", (long)stretch.begin,
               (long)stretch.end);
  cr_expect(stretch.end <= 700 || stretch.begin >= 800, "it lies in two blocks: %ld to %ld",
            (long)stretch.begin, (long)stretch.end);
}

// Events of one kind in a row are one, from the begin of the first to the end of the last, but those of another warp are not.
Test(rings, a_row_of_events_is_one) {
  const timeline_sources none = {.count = 0};
  timeline_entry entries[] = {
      entry(0, 1, TIMELINE_SOFTMAX, 5), entry(0, 1, TIMELINE_SOFTMAX, 9),
      entry(1, 1, TIMELINE_SOFTMAX, 6), entry(1, 2, TIMELINE_SOFTMAX, 8),
      entry(1, 2, TIMELINE_COPY, 9),    entry(1, 2, TIMELINE_COPY, 10),
  };
  timeline_list some = {.count = sizeof entries / sizeof *entries, .entries = entries};
  timeline_list_simplify(&some, &none);
  cr_assert_eq(some.count, 5);
  cr_expect(entries[0].begin == 5 && entries[0].end == 9);
  cr_expect(entries[1].place == 1 && entries[1].begin == 6 && entries[1].end == 6);
  cr_expect(entries[2].block == 2 && entries[2].begin == 8);
}

// A product of Q and K is told by the function that it stands in, or by what its line calls, even in the last line.
Test(rings, products_are_told_by_what_their_line_calls) {
  char *text[] = {"multiply_values(P);", "multiply_scores(Q);"}, *function[] = {"kernel", "kernel"};
  timeline_sources sources = {.count = 1,
                              .files = {{.lines = 2, .text = text, .function = function}}};
  snprintf(sources.files[0].name, sizeof sources.files[0].name, "attention.cu");
  timeline_entry entries[] = {entry(0, 0, TIMELINE_PRODUCT, 1), entry(0, 0, TIMELINE_PRODUCT, 2)};
  for (int i = 0; i < 2; i++) entries[i].site = timeline_site_number("attention.cu", i + 1);
  timeline_list some = {.count = 2, .entries = entries};
  timeline_list_simplify(&some, &sources);
  cr_expect_eq(entries[0].kind, TIMELINE_QUEUE_OUTPUT);
  cr_expect_eq(entries[1].kind, TIMELINE_QUEUE_SCORES);
}
