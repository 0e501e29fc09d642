// Tests how the options are read, what they are without being given, and the help.
#define _GNU_SOURCE
#include "options/help.h"
#include "options/number.h"
#include "parse.h"
#include "shape/shape.h"
#include "tests/kept.h"
#include <math.h>

Test(options, defaults_on_a_gpu) {
  const options parsed = parse_good("");
  const attention_shape shape = options_shape(&parsed, false);
  cr_assert_str_eq(kept(shape_describe(&shape).text), "4x8x512x64 fp16");
  cr_assert_eq(shape.kv_heads, 8);
  cr_assert_float_eq(shape.scale, 0.125f, 0);
  cr_assert_eq(parsed.inputs, INPUTS_NORMAL);
  cr_assert_eq(parsed.seed, 1);
  cr_assert_eq(parsed.rounds, 0);
  cr_assert_eq(parsed.warm_up, 10);
  cr_assert_eq(parsed.out_dtype, OUTPUT_FLOAT16);
  cr_assert_null(parsed.q);
  cr_assert_null(parsed.out);
  cr_assert_null(parsed.lse);
  for (int id = 0; id < OPTION_COUNT; id++) {
    cr_assert(!parsed.given[id], "%s", option_table[id].name);
  }
}

Test(options, shapes) {
  const struct {
    const char *arguments;
    const char *shape; // on the emulator
  } cases[] = {
      {"", "1x2x128x64 fp16"},
      {"--batch 3", "3x2x128x64 fp16"},
      {"--heads 6", "1x6x128x64 fp16"},
      {"--heads=6 --kv-heads=3", "1x6x128x64 fp16, kv 1x3x128x64"},
      {"--kv-heads 1", "1x2x128x64 fp16, kv 1x1x128x64"},
      {"--seq 200", "1x2x200x64 fp16"},
      {"--seq-q 1", "1x2x1x64 fp16, kv 1x2x128x64"},
      {"--seq-kv 7 --seq-q=33", "1x2x33x64 fp16, kv 1x2x7x64"},
      {"--dim 1", "1x2x128x1 fp16"},
      {"--dtype bf16", "1x2x128x64 bf16"},
      {"--dtype=fp16 --causal", "1x2x128x64 fp16 causal"},
      {"--seq 1073741824", "1x2x1073741824x64 fp16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const options parsed = parse_good(cases[i].arguments);
    const attention_shape shape = options_shape(&parsed, true);
    cr_expect_str_eq(kept(shape_describe(&shape).text), cases[i].shape, "'%s' gave %s",
                     cases[i].arguments, shape_describe(&shape).text);
  }
}

// A step takes the splits as a part of its configuration's name.
Test(options, configurations) {
  static const char *const cases[][2] = {{"--config 64x64x4", "64x64x4"},
                                         {"--splits 3", ":3"},
                                         {"--config 64x64x4 --splits 3", "64x64x4:3"},
                                         {"--splits 65536 --config 16x64x4x2", "16x64x4x2:65536"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    cr_expect_str_eq(parse_good(cases[i][0]).config, cases[i][1], "%s", cases[i][0]);
  cr_expect_null(parse_good("").config);
}

// The smallest number and the largest that 64 bits hold are numbers, and the next ones are none.
Test(options, numbers_of_64_bits) {
  static const char *const good[] = {"-9223372036854775808", "9223372036854775807"};
  static const char *const bad[] = {"-9223372036854775809", "9223372036854775808"};
  static const char *const words[] = {"smallest it can be is -9223372036854775808",
                                      "largest it can be is 9223372036854775807"};
  for (size_t i = 0; i < 2; i++) {
    int64_t value = 0;
    error_text error = {""};
    cr_expect(number_parse_integer("n", good[i], INT64_MIN, INT64_MAX, &value, &error) &&
                  value == (i == 0 ? INT64_MIN : INT64_MAX),
              "%s: %s", good[i], error.text);
    cr_expect(!number_parse_integer("n", bad[i], INT64_MIN, INT64_MAX, &value, &error));
    cr_expect(strstr(error.text, words[i]), "%s", error.text);
  }
}

Test(options, scales) {
  const struct {
    const char *arguments;
    float scale;
  } cases[] = {
      {"--dim 16", 0.25f},     {"--dim 128", 0.088388346f}, {"--dim 1", 1.0f},
      {"--scale 2", 2.0f},     {"--scale -0.5", -0.5f},     {"--scale=.5 --dim 16", 0.5f},
      {"--scale 1e-3", 1e-3f}, {"--scale 0", 0.0f},         {"--scale=-.25", -0.25f},
      {"--scale 1e-60", 0.0f}, // rounds to the nearest float32
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const options parsed = parse_good(cases[i].arguments);
    const float scale = options_shape(&parsed, false).scale;
    cr_expect(scale == cases[i].scale, "'%s' gave %g", cases[i].arguments, (double)scale);
  }
}

Test(options, everything_else) {
  const options parsed =
      parse_good("--inputs ramp --seed 18446744073709551615 --out O.npy --lse=L.npy --out-dtype "
                 "float32 --no-check --rounds 7 --warm-up 0 --warm-l2 --csv --emu-seed 9");
  cr_expect_eq(parsed.inputs, INPUTS_RAMP);
  cr_expect_eq(parsed.seed, UINT64_MAX);
  cr_expect_str_eq(parsed.out, "O.npy");
  cr_expect_str_eq(parsed.lse, "L.npy");
  cr_expect_eq(parsed.out_dtype, OUTPUT_FLOAT32);
  cr_expect_eq(parsed.rounds, 7);
  cr_expect_eq(parsed.warm_up, 0);
  cr_expect_eq(parsed.emu_seed, 9);
  const option_id flags[] = {OPTION_NO_CHECK, OPTION_WARM_L2, OPTION_CSV};
  for (int i = 0; i < 3; i++) cr_expect(parsed.given[flags[i]], "%s", option_table[flags[i]].name);
  cr_expect(!parsed.given[OPTION_NO_TIME]);
  cr_expect(!parsed.given[OPTION_CAUSAL]);
  cr_expect(!parsed.given[OPTION_O_ALONE] && parse_good("--o-alone").given[OPTION_O_ALONE]);
}

Test(options, every_kind_of_inputs) {
  for (int kind = 0; kind < INPUTS_KINDS; kind++) {
    char arguments[64];
    snprintf(arguments, sizeof arguments, "--inputs %s", inputs_name((inputs_kind)kind));
    cr_expect_eq(parse_good(arguments).inputs, (inputs_kind)kind, "%s", arguments);
  }
}

Test(options, output_types) {
  cr_expect_eq(parse_good("--dtype bf16 --out O.npy").out_dtype, OUTPUT_BFLOAT16);
  cr_expect_eq(parse_good("--out O.npy --out-dtype float16").out_dtype, OUTPUT_FLOAT16);
  cr_expect_eq(parse_good("--out-dtype bfloat16 --out O.npy --dtype bf16").out_dtype,
               OUTPUT_BFLOAT16);
  cr_expect_eq(parse_good("--out-dtype float32 --out O.npy --dtype bf16").out_dtype,
               OUTPUT_FLOAT32);
}

Test(options, files) {
  // The text after the first = belongs to the value, and a value may look like an option after one.
  const options parsed = parse_good("--q=a=b.npy --k K.npy --v=--odd");
  cr_expect_str_eq(parsed.q, "a=b.npy");
  cr_expect_str_eq(parsed.k, "K.npy");
  cr_expect_str_eq(parsed.v, "--odd");
  const options same = parse_good("--q X.npy --k X.npy --v X.npy"); // reading one file is fine
  cr_expect_str_eq(same.v, "X.npy");
}

Test(options, help) {
  // Help has priority over all options after it, but not over an error before it.
  cr_expect(parse_good("--help --nonsense").given[OPTION_HELP]);
  cr_expect(parse_good("--seq 8 -h").given[OPTION_HELP]);
  options parsed;
  error_text error;
  cr_expect(!parse("--nonsense --help", &parsed, &error));

  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  help_print(out, "build/cpu/step04", "04_online_softmax", "one fused kernel");
  fclose(out);
  const char *const headings[] = {"\nWHAT IT DOES\n", "\nUSAGE\n",       "\nOPTIONS\n",
                                  "\nFILES\n",        "\nEXIT STATUS\n", "\nEXAMPLES\n"};
  for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++) {
    cr_expect(strstr(text, headings[i]), "no heading %s", headings[i]);
  }
  for (int id = 0; id < OPTION_COUNT; id++) {
    char start[64];
    snprintf(start, sizeof start, "\n      %s ", option_table[id].name);
    const char *found = strstr(text, start);
    cr_expect(found, "%s is not in the help", option_table[id].name);
    cr_expect(found && !strstr(found + 1, start), "%s is there twice", option_table[id].name);
  }
  for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
    cr_expect_leq(strcspn(line, "\n"), 100, "too wide: %.*s", (int)strcspn(line, "\n"), line);
  }
  free(text);
}
