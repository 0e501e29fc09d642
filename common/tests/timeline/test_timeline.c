// The stamps of kernels: what the host makes of the rings, what the record says, and that a build without them is as if
// there were none.
#define _GNU_SOURCE
#include "timeline/stretch.h"

#include "tests/needs.h"
#include "tests/scripts/toolkit.h"

enum { SLOTS = 16 };

static unsigned site(const char *file, int line) { return timeline_site_number(file, line); }

static timeline_event moment(unsigned time, timeline_kind kind, int line) {
  return (timeline_event){time, time, site("a/attention.cu", line) << 5 | kind, 0};
}

// Warp 1 of block 7 has written three events of which the last took the place of the second; the clock has passed 2^32.
Test(timeline, rings_become_a_list) {
  static timeline_event rings[TIMELINE_WARPS * (1 + SLOTS)];
  timeline_event *ring = rings + 3 * (1 + SLOTS); // of place 3
  ring[0].begin = 3;
  ring[1] = (timeline_event){4294967290u, 4294967290u, TIMELINE_BEGIN_OF_WARP, 7 << 5 | 1};
  ring[5] = moment(8, TIMELINE_PRODUCT, 20);
  ring[2] =
      (timeline_event){4294967293u, 2, site("attention.cu", 10) << 5 | TIMELINE_BARRIER_WAIT, 0};
  timeline_list list;
  error_text error;
  cr_assert(timeline_list_make(rings, SLOTS, &list, &error), "%s", error.text);
  cr_assert_eq(list.count, 2, "there are %zu events", list.count);
  cr_expect_eq(list.lost, 1);
  timeline_list_free(&list);

  ring[0].begin = 0; // a kernel that numbers its events
  ring[2].who = 2;
  ring[5].who = 5;
  cr_assert(timeline_list_make(rings, SLOTS, &list, &error), "%s", error.text);
  cr_expect_eq(list.lost, 3, "events 1, 3 and 4 are lost, not %lu", (unsigned long)list.lost);
  const timeline_entry *wait = &list.entries[0], *product = &list.entries[1];
  cr_expect(wait->kind == TIMELINE_BARRIER_WAIT && product->kind == TIMELINE_PRODUCT);
  cr_expect_eq(wait->begin, 3);
  cr_expect_eq(wait->end, 8);
  cr_expect_eq(product->end, 14);
  cr_expect(wait->block == 7 && wait->warp == 1 && wait->place == 3);
  cr_expect_eq(wait->site, site("attention.cu", 10));
  timeline_list_free(&list);
}

// Tiles of 12 key blocks, and a store behind each.
static timeline_list tiles(size_t count) {
  timeline_list list = {.entries = calloc(count * 25, sizeof *list.entries)};
  int64_t now = 0;
  for (size_t tile = 0; tile < count; tile++) {
    for (int block = 0; block < 12; block++) {
      list.entries[list.count++] =
          (timeline_entry){.begin = now, .end = now, .kind = TIMELINE_QUEUE_SCORES};
      list.entries[list.count++] =
          (timeline_entry){.begin = now + 50, .end = now + 50, .kind = TIMELINE_QUEUE_OUTPUT};
      now += 100;
    }
    list.entries[list.count++] =
        (timeline_entry){.begin = now - 10, .end = now - 10, .kind = TIMELINE_STORE};
  }
  return list;
}

Test(timeline, the_stretch_holds_no_store) {
  timeline_list list = tiles(2); // whose middle, 1200, is between two tiles
  const timeline_stretch stretch = timeline_choose_stretch(&list, 4);
  cr_expect_eq(stretch.end - stretch.begin, 400, "it is %ld to %ld", stretch.begin, stretch.end);
  for (size_t i = 0; i < list.count; i++) {
    const timeline_entry *entry = &list.entries[i];
    cr_expect(entry->kind != TIMELINE_STORE || entry->end < stretch.begin ||
              entry->begin >= stretch.end);
  }
  cr_expect(stretch.begin >= 700 && stretch.end <= 1700, "it is far from the middle");
  unsigned *numbers = calloc(list.count, sizeof *numbers);
  timeline_number_key_blocks(&list, numbers);
  cr_expect(numbers[0] == 1 && numbers[1] == 1 && numbers[22] == 12 && numbers[24] == 0 &&
            numbers[25] == 13);
  free(numbers);
  const timeline_list few = {.count = 4, .entries = list.entries};
  const timeline_stretch whole = timeline_choose_stretch(&few, 4);
  cr_expect(whole.begin == 0 && whole.end == 151);
  timeline_list_free(&list);
}

Test(timeline, products_are_told_by_their_function) {
  char folder[] = "/tmp/lab-test-XXXXXX", path[64];
  cr_assert(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/attention.cu", folder);
  toolkit_write(path,
                "template <int D>\n__device__ void\nmultiply_scores(int a) {\n  wgmma_fence();\n}\n"
                "__device__ void accumulate_output(int a) {\n  wgmma_fence();\n}\n");
  timeline_sources sources;
  error_text error;
  cr_assert(timeline_sources_read(path, "common/kernel", &sources, &error), "%s", error.text);
  timeline_entry entries[] = {
      {.kind = TIMELINE_PRODUCT, .site = site("x/attention.cu", 4)},
      {.kind = TIMELINE_PRODUCT, .site = site("x/attention.cu", 7)},
      {.kind = TIMELINE_SOFTMAX, .begin = 5, .end = 5, .site = site("ptx.cuh", 9)},
      {.kind = TIMELINE_SOFTMAX, .begin = 9, .end = 9, .site = site("ptx.cuh", 9)},
  };
  timeline_list list = {.count = 4, .entries = entries};
  timeline_list_simplify(&list, &sources);
  cr_assert_eq(list.count, 3);
  cr_expect_eq(entries[0].kind, TIMELINE_QUEUE_SCORES);
  cr_expect_eq(entries[1].kind, TIMELINE_QUEUE_OUTPUT);
  cr_expect(entries[2].begin == 5 && entries[2].end == 9);
  const timeline_where where = timeline_sources_find(&sources, entries[1].site);
  cr_expect_str_eq(where.file, "attention.cu");
  cr_expect_str_eq(where.text, "wgmma_fence();");
  cr_expect_eq(where.line, 7);
  cr_expect_str_eq(timeline_sources_find(&sources, site("none.cuh", 1)).file, "?");
  timeline_sources_free(&sources);
  remove(path);
  remove(folder);
}

#define NAMES                                                                                      \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,plain_ms,"    \
  "stamped_ms,all_stamped_ms,lost,stretch,block,warp,begin,end,kind,key_block,file,line\n"
#define ROW(warp, begin, end, kind, key_block, line)                                               \
  "14_pingpong,,NVIDIA H200,fp16,1,1,1,64,64,64,0,1,1,1,0,1000,0," #warp "," #begin "," #end       \
  "," #kind "," #key_block ",attention.cu," #line "\n"
// Two warp groups. The first has products in 0-300 and 500-900, and softmax between them; the second has a product in
// 300-500, whose end is not certain because its wait is short, and softmax behind it.
#define RECORD                                                                                     \
  NAMES ROW(4, 0, 0, queue_scores, 1, 10) ROW(4, 100, 300, product_wait, , 11)                     \
      ROW(4, 500, 500, queue_output, 1, 12) ROW(4, 600, 900, product_wait, , 13)                   \
          ROW(4, 1000, 1000, queue_scores, 2, 10) ROW(8, 300, 300, queue_output, 1, 12)            \
              ROW(8, 490, 500, product_wait, , 13) ROW(8, 1000, 1000, queue_scores, 2, 10)

#define READ "awk -f scripts/csv.awk -f scripts/timeline.awk -f scripts/timeline_"

TestSuite(record, .init = toolkit_enter, .fini = toolkit_leave);

Test(record, text_says_what_overlaps) {
  toolkit_write("timeline.csv", RECORD);
  const script_result result = toolkit_run(READ "text.awk -v columns=40 timeline.csv 2>&1");
  EXPECT(result, " key block |1", "warps 4-7 |qqqqwwwwwwwwssssssssqqqqwwwwwwwwwwwwssss|",
         "under way |SSSSSSSSSSSS PPPPPPPPPPPPPPPP |", "warps 8-11 | qqqqqqqqssss",
         "work queued: 90 % of the time\n",
         "under way: 75 % of the softmax, of the warps' own: 0 %\n",
         "a consumer 26 % waits for a product\n");
}

Test(record, trace_is_json) {
  needs_tool("python3");
  toolkit_write("timeline.csv", RECORD);
  const script_result result =
      toolkit_run(READ "trace.awk timeline.csv | python3 -c \"import json, sys; t = "
                       "json.load(sys.stdin)['traceEvents']; "
                       "print([(e['tid'], e['ts'], e['dur'], e['name']) for e in t if e['ph'] == "
                       "'X' and 'output' in e['name']])\" 2>&1");
  EXPECT(result, "(3, 0.5, 0.4, 'output 1')", "(5, 0.3, 0.2, 'output 1 (end not known)')");
}

// A wait that began before the stretch and ended behind it is shown as far as the stretch goes.
Test(record, nothing_lies_outside_of_the_stretch) {
  toolkit_write("timeline.csv", NAMES ROW(4, -50, 1100, barrier_wait, , 14));
  const script_result result = toolkit_run(READ "trace.awk timeline.csv | grep barrier_wait");
  EXPECT(result, "\"ts\": 0.000, \"dur\": 1.000, \"name\": \"barrier_wait\"");
}

// The verb makes a chart of a record, and puts a trace beside the record.
Test(record, the_verb_writes_a_trace_beside_it) {
  toolkit_write("timeline.csv", RECORD);
  const script_result result =
      toolkit_run("COLUMNS=90 scripts/timeline.sh gpu timeline.csv 2>&1 && "
                  "tail -n 1 timeline.json && ls timeline.*");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, " key block |1",
         "written: timeline.json, which https://ui.perfetto.dev opens\n]}\n",
         "timeline.csv\ntimeline.json\n");
}

#define EVENT(number, warp, event, after)                                                          \
#number "," #warp "," #event ",__syncthreads(),1,,attention.cu,9," #after ",\n"
#define ORDER(options) "awk -f scripts/csv.awk -f scripts/order_text.awk " options " order.csv 2>&1"

// A page of a long order, and all of it; the emulator itself keeps the last events.
Test(record, an_order_is_shown_by_the_page) {
  toolkit_write("order.csv",
                "# kernel k, block (0,0,0)\n"
                "number,warp,event,operation,times,barrier,file,line,after,under_way\n" //
                EVENT(1, 0, waits, ) EVENT(2, 1, waits, ) EVENT(3, 0, goes_on, 2)
                    EVENT(4, 1, goes_on, 2));
  const char *const whole = " event warp 0 warp 1\n"
                            " 1 [__syncthreads()] :9\n"
                            " 2 [__syncthreads()] :9\n"
                            " 3 goes on after 2\n"
                            " 4 goes on after 2\n\nThere are no times";
  script_result result = toolkit_run(ORDER(""));
  EXPECT(result, whole);
  result = toolkit_run(ORDER("-v most=0"));
  EXPECT(result, whole);
  result = toolkit_run(ORDER("-v most=4"));
  EXPECT(result, whole);
  result = toolkit_run(ORDER("-v most=2"));
  EXPECT(result, " 2 [__syncthreads()] :9\n ... 2 more lines", "\n\nThere are no times");
  result = toolkit_run(ORDER("-v most=3"));
  EXPECT(result, " 3 goes on after 2\n ... 1 more line: COUNT=all ", "COUNT=6 twice");
  toolkit_write("order.csv",
                "number,warp,event,operation,times,barrier,file,line,after,under_way\n" //
                EVENT(11, 0, waits, ) EVENT(12, 0, goes_on, 9));
  result = toolkit_run(ORDER(""));
  EXPECT(result, "\n ... the emulator has kept the last 2 events, and not the first 10\n 11 [");
}

// The order is of a small problem, but for what the options say, however they are written.
Test(record, an_order_is_of_a_small_problem) {
  static const char *const cases[][2] = {
      {"", "--batch 1 --heads 1 --seq 512 --dim 64"},
      {"--seq=64 --batch 3", "--seq=64 --batch 3 --heads 1 --dim 64"},
      {"--seq-q 5 --dim 128", "--seq-q 5 --dim 128 --batch 1 --heads 1"},
  };
  toolkit_write("program", "#!/bin/bash\necho \"$* block $EMU_ORDER_BLOCK\" >said\n"
                           "cp order.csv \"$EMU_ORDER\"\n" FINISHES);
  toolkit_write("order.csv",
                "number,warp,event,operation,times,barrier,file,line,after,under_way\n" //
                EVENT(1, 0, waits, ));
  cr_assert(chmod("program", 0700) == 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256], said[256];
    snprintf(command, sizeof command, "BLOCK=2 scripts/timeline.sh cpu ./program %s 2>&1; cat said",
             cases[i][0]);
    snprintf(said, sizeof said, "\n%s --no-check --no-time block 2,0,0\n", cases[i][1]);
    const script_result result = toolkit_run(command);
    EXPECT(result, " 1 [__syncthreads()] :9\n", said);
  }
}

// A warp's products, and its turns at the tensor cores: of four waits two leave a product under way, and of three turns
// one is passed before the wait for what was queued in it. Warps 1 to 3 of a group are not counted.
Test(record, an_order_sums_up_waits_and_turns) {
#define OF(warp, operation, under_way)                                                             \
  "1," #warp ",arrives," operation ",1,,attention.cu,9,," under_way "\n"
#define TURN(before, behind)                                                                       \
  OF(4, "bar.sync", "") before OF(4, "bar.arrive", "") behind OF(5, "wgmma.wait_group", "1")
  toolkit_write("order.csv",
                "number,warp,event,operation,times,barrier,file,line,after,under_way\n" //
                TURN(OF(4, "wgmma.wait_group", "1"), OF(4, "wgmma.wait_group", "0"))
                    TURN("", OF(4, "wgmma.wait_group", "0"))
                        TURN(OF(4, "wgmma.wait_group", "2"), ""));
  const script_result result = toolkit_run(ORDER(""));
  EXPECT(result, " event warp 4-7\n",
         "\nwarps 4-7: 2 of 4 waits for products leave another product under way\n",
         "warps 4-7: 1 of 3 turns are passed before the wait for their products\n");
}

Test(stamps, are_not_there_unless_asked_for, .timeout = 100) {
  if (!has_tool("nvcc") && access("/usr/local/cuda/bin/nvcc", X_OK) != 0)
    cr_skip_test("needs nvcc");
  // The wait for V of step 11, wherever its line is.
  const int line =
      atoi(toolkit_run("grep -n 'barrier_wait(&smem.V_full' steps/11_wgmma/attention.cu").out);
  cr_assert(line > 0, "step 11 has no wait for V");
  char command[256];
  snprintf(
      command, sizeof command,
      "PATH=$PATH:/usr/local/cuda/bin common/tests/timeline/stamps_off.sh nvcc 11_wgmma %u 2>&1",
      site("attention.cu", line) << 5 | TIMELINE_BARRIER_WAIT);
  const script_result result = toolkit_run(command);
  cr_assert_eq(result.status, 0, "%s", result.out);
  EXPECT(result, "same: the preprocessed headers\n", "same: the cubin of 11_wgmma\n",
         "no spilled register: 11_wgmma with stamps\n");
}
