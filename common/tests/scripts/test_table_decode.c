// scripts/tables.sh: the tables that choose from the record of decode, or sum it up.
#define _GNU_SOURCE
#include "tables.h"

TestSuite(table_decode, .init = tables_enter, .fini = toolkit_leave);

// A short table has the problems that it names, and no others of that number of heads. The kind of its times is chosen
// as in the whole table.
Test(table_decode, a_choice_of_problems) {
  const char *const more = DECODE GRAPHED("20_one_kernel", "2,32,8,1,1024,128,0", "0.02", "0.007")
      GRAPHED("20_one_kernel", "1,64,8,1,1024,128,0", "0.02", "0.006")
          GRAPHED("19_packed_heads", "2,32,8,4,1024,128,1", "0.02", "0.012")
              GRAPHED("20_one_kernel", "2,32,8,4,1024,128,1", "0.02", "0.011");
  recorded_write("decode", more);
  const script_result result = filled(BLOCK("decode_short test-gpu 32 8 19 20 1:1,2:4"));
  EXPECT(result, "| 1 | 1024 | 1 | | 8.00 | | 16.0 | SDPA cuDNN | 2.00 | 4.00 | 0.50 |\n"
                 "| 1 | 8192 | 1 | | 64.0 | | | | | 32.0 | 0.50 |\n"
                 "| 1 | 4096 | 1 | | 64.0 | | 48.0 | SDPA cuDNN | 0.75 | 16.0 | 0.25 |\n"
                 "| 2 | 1024 | 4 | 12.0 | 11.0 | 1.09 | | | | | |\n\n");
  const script_result none = filled(BLOCK("decode_short test-gpu 32 4 19 20 1:1"));
  EXPECT(none, "No row of this kind is recorded: `make decode`");
}

// The same table of another step compares that step's times, in the kind that they have.
Test(table_decode, a_choice_of_another_step) {
  const char *const more = DECODE GRAPHED("25_marked_words", "1,32,8,1,1024,128,0", "0.02", "0.005")
      GRAPHED("25_marked_words", "2,32,8,1,1024,128,0", "0.02", "");
  recorded_write("decode", more);
  const script_result result = filled(BLOCK("decode_short test-gpu 32 8 20 25 1:1,2:1"));
  EXPECT(result, "| 1 | 1024 | 1 | 8.00 | 5.00 | 1.60 | 16.0 | SDPA cuDNN | 3.20 | 4.00 | 0.80 |\n",
         "| 2 | 1024 | 1 | | 20.0 | | | | | | |\n");
  const script_result whole = filled(BLOCK("decode test-gpu"));
  EXPECT(whole, "| 32 | 8 | 1 | 1024 | 1 | | 10.0 | | 8.00 | 5.00 | 16.0 | SDPA cuDNN | 2.00 |");
  recorded_write("decode", DECODE);
  const script_result none = filled(BLOCK("decode_short test-gpu 32 8 20 25 1:1"));
  EXPECT(none, "No row of this kind is recorded: `make decode`");
}

// Where the step has no time of a graph, the fastest peer is that of the single launches, and not of the graphs.
Test(table_decode, the_fastest_peer_by_the_times_that_are_compared) {
  recorded_write("decode", DECODE GRAPHED("20_one_kernel", "2,32,8,1,1024,128,0", "0.06", "")
                               GRAPHED("sdpa_cudnn", "2,32,8,1,1024,128,0", "0.03", "0.01")
                                   GRAPHED("sdpa_flash", "2,32,8,1,1024,128,0", "0.02", ""));
  const script_result result = filled(BLOCK("decode test-gpu"));
  EXPECT(result, "| 32 | 8 | 2 | 1024 | 1 | | | | 60.0 | | 20.0 | SDPA flash | 0.33 | | |\n");
}

// K and V have 4.19 MB in two problems with one query: at batch 1 with 8 key/value heads, and at batch 2 with 4. In the
// second one step 20 takes 0.09 % longer than the peer, which does not count, and with four queries 0.2 %, which does.
Test(table_decode, by_bytes) {
  const char *const more =
      DECODE GRAPHED("20_one_kernel", "2,32,4,1,1024,128,0", "0.02", "0.010009")
          GRAPHED("sdpa_flash", "2,32,4,1,1024,128,0", "0.02", "0.01")
              GRAPHED("only_reading", "2,32,4,1,1024,128,0", "0.02", "0.008")
                  GRAPHED("20_one_kernel", "2,32,4,4,1024,128,1", "0.02", "0.01002")
                      GRAPHED("sdpa_flash", "2,32,4,4,1024,128,1", "0.02", "0.01")
                          GRAPHED("18_split_kv", "32,32,32,1,4096,128,0", "2", "")
                              GRAPHED("20_one_kernel", "32,32,32,1,4096,128,0", "1.25", "")
                                  GRAPHED("sdpa_flash", "32,32,32,1,4096,128,0", "1", "");
  recorded_write("decode", more);
  const script_result result = filled(BLOCK("decode_sizes test-gpu"));
  EXPECT(result, "| 4.19 MB | 0.50 to 0.80 | 0 of 2 | 0.999 | | 1 of 1 | 0.998 |\n",
         "| 16.8 MB | 0.25 | 1 of 1 | 0.750 | | | |\n", "| 33.6 MB | 0.50 | | | | | |\n",
         "| 2.15 GB | | 1 of 1 | 0.800 | | | |\n\n");
}

// Where 128 blocks have 8 key blocks each. 32 rows are two tiles, so half as many heads make as many tiles. In the last
// problem a block would have 16 key blocks.
Test(table_decode, rows_and_parts) {
  const char *const more = DECODE GRAPHED("20_one_kernel", "16,32,8,1,1024,128,0", "0.03", "0.019")
      GRAPHED("only_reading", "16,32,8,1,1024,128,0", "0.03", "0.017")
          GRAPHED("20_one_kernel", "4,32,8,1,4096,128,0", "0.03", "0.021")
              GRAPHED("only_reading", "4,32,8,1,4096,128,0", "0.03", "0.016")
                  GRAPHED("20_one_kernel", "1,32,8,1,16384,128,0", "0.03", "0.022")
                      GRAPHED("20_one_kernel", "1,32,4,4,16384,128,1", "0.03", "0.015")
                          GRAPHED("20_one_kernel", "16,64,4,1,1024,128,0", "0.03", "0.014")
                              GRAPHED("20_one_kernel", "4,32,8,1,8192,128,0", "0.03", "0.04");
  recorded_write("decode", more);
  const script_result result = filled(BLOCK("decode_parts test-gpu"));
  EXPECT(result,
         "| rows | heads | kv heads | queries | whole tiles, µs | 4 parts, µs | 16 parts, µs | "
         "only reading, µs |\n",
         "---:|\n| 4 | 32 | 8 | 1 | 19.0 | 21.0 | 22.0 | 17.0 |\n"
         "| 32 | 32 | 4 | 4 | | | 15.0 | |\n\n");
}
