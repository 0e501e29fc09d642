// Tests the command line of the bench.
#define _GNU_SOURCE
#include "../driver/command_line.h"
#include "bench/options.h"
#include <criterion/criterion.h>
#include <string.h>

static command_line line;
static bench_options options;
static error_text error;

static bool parse(const char *arguments) {
  command_line_split(&line, "--", arguments);
  return bench_options_parse(line.argc, line.argv, &options, &error);
}

Test(bench_options, defaults) {
  cr_assert(parse(""), "%s", error.text);
  cr_expect(options.rounds == 0 && options.seconds == 4 && !options.fresh && !options.help);
  cr_expect(bench_options_want(&options, "05_wmma"));
  attention_shape shapes[GRID_MOST];
  cr_expect_eq(grid_make(&options.filter, shapes), 44);
}

Test(bench_options, all_of_them) {
  cr_assert(parse("--fresh --rounds 20 --seconds=0.25 --only 05 --only 06_cp_async --dtype bf16 "
                  "--head-dim 128 --seq 4096 --causal yes"),
            "%s", error.text);
  cr_expect(options.fresh && options.rounds == 20 && options.seconds == 0.25);
  cr_expect(options.filter.dtype == ATTENTION_BF16 && options.filter.head_dim == 128 &&
            options.filter.seq == 4096 && options.filter.causal == 1 && !options.filter.quick);
  cr_expect(bench_options_want(&options, "05_wmma") && bench_options_want(&options, "06_cp_async"));
  cr_expect(!bench_options_want(&options, "06_cp_async_two") &&
            !bench_options_want(&options, "04_online_softmax") &&
            !bench_options_want(&options, "0"));
  cr_assert(parse("--quick --causal no --dtype fp16"), "%s", error.text);
  cr_expect(options.filter.quick && options.filter.causal == 0 && options.filter.dtype == 0);
  cr_assert(parse("--decode --seq 65536 --dtype bf16 --head-dim 128"), "%s", error.text);
  cr_expect(options.filter.decode && options.filter.seq == 65536);
  cr_assert(parse("--help --nonsense"), "%s", error.text);
  cr_expect(options.help);
}

Test(bench_options, refused) {
  static const struct {
    const char *arguments;
    const char *sentence;
  } cases[] = {
      {"--sequence 3", "--sequence is not an option"},
      {"--seq", "--seq needs a value"},
      {"--seq x", "--seq is \"x\""},
      {"--seq 300", "the grid has no such shape"},
      {"--quick --dtype bf16", "the grid has no such shape"},
      {"--decode --dtype fp16", "decode has no such shape"},
      {"--decode --head-dim 64", "decode has no such shape"},
      {"--decode --seq 512", "decode has no such shape"},
      {"--seq 65536", "the grid has no such shape"},
      {"--decode --quick --seq 65536", "decode has no such shape"},
      {"--decode --quick --causal yes", "decode has no such shape"},
      {"--rounds 0", "--rounds is"},
      {"--rounds 31", "--rounds is 31"},
      {"--seq 1024 --dtype bf16", "the grid has no such shape"},
      {"--seconds 0", "--seconds is 0: give a number above 0"},
      {"--seconds -1", "--seconds is -1: give a number above 0"},
      {"--dtype fp8", "--dtype is \"fp8\": give fp16 or bf16"},
      {"--causal 1", "--causal is \"1\": give no or yes"},
      {"05", "05 is not an option"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_expect(!parse(cases[i].arguments), "'%s' is taken", cases[i].arguments);
    cr_expect(strncmp(error.text, cases[i].sentence, strlen(cases[i].sentence)) == 0,
              "'%s' says: %s", cases[i].arguments, error.text);
  }
}

Test(bench_options, help_names_every_option) {
  static const char *const names[] = {"--decode",   "--quick",  "--fresh", "--rounds",
                                      "--seconds",  "--only",   "--dtype", "--seq",
                                      "--head-dim", "--causal", "--help"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    cr_expect(strstr(bench_usage, names[i]), "%s", names[i]);
  }
}
