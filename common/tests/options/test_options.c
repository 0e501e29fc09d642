#define _GNU_SOURCE
#include "../driver/command_line.h"
#include "options/help.h"
#include "options/options.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>

// The paths in the options point into the words, so the words must live as long.
static command_line words;

static bool parse(const char *arguments, options *parsed, error_text *error) {
  error->text[0] = '\0';
  command_line_split(&words, "step", arguments);
  return options_parse(words.argc, words.argv, parsed, error);
}

static options parse_good(const char *arguments) {
  options parsed;
  error_text error;
  cr_assert(parse(arguments, &parsed, &error), "'%s' was refused: %s", arguments, error.text);
  return parsed;
}

Test(options, defaults_on_a_gpu) {
  const options parsed = parse_good("");
  const attention_shape shape = options_shape(&parsed, false);
  cr_assert_str_eq(shape_describe(&shape).text, "4x8x512x64 fp16");
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
    cr_expect_str_eq(shape_describe(&shape).text, cases[i].shape, "'%s' gave %s",
                     cases[i].arguments, shape_describe(&shape).text);
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

Test(options, sentences) {
  const struct {
    const char *arguments;
    const char *sentence;
  } cases[] = {
      // Names.
      {"--sead 1", "there is no option --sead: the nearest is --seed (--help lists them)"},
      {"--head=3", "there is no option --head: the nearest is --heads (--help lists them)"},
      {"--kv_heads 3", "there is no option --kv_heads: the nearest is --kv-heads (--help lists "
                       "them)"},
      {"--warmup 3", "there is no option --warmup: the nearest is --warm-up (--help lists them)"},
      {"--o-alone --lse L.npy",
       "--lse writes what --o-alone does not ask the step for: leave one out"},
      {"--nocheck", "there is no option --nocheck: the nearest is --no-check (--help lists them)"},
      {"--SEQ 3", "there is no option --SEQ: the nearest is --seq (--help lists them)"},
      {"128", "\"128\" is not an option: options begin with -- (--help lists them)"},
      {"-seq 128", "\"-seq\" is not an option: options begin with -- (--help lists them)"},
      {"--causal yes", "\"yes\" is not an option: options begin with -- (--help lists them)"},
      {"--csv ", "\"\" is not an option: options begin with -- (--help lists them)"},
      {"--causal=yes", "--causal is a switch and takes no value: leave \"=yes\" out"},
      {"--causal=", "--causal is a switch and takes no value: leave \"=\" out"},
      {"--causal --causal", "--causal is given twice: leave one out"},
      {"--seq 8 --seq=8", "--seq is given twice: leave one out"},
      // Values that are missing or no numbers.
      {"--seq", "--seq needs a value: for example --seq 512"},
      {"--seq=", "--seq needs a value: for example --seq 512"},
      {"--seq  --csv", "--seq needs a value: for example --seq 512"},
      {"--out --csv", "--out needs a value: for example --out O.npy"},
      {"--seq twelve", "--seq is \"twelve\": give a whole number"},
      {"--seq +12", "--seq is \"+12\": give a whole number"},
      {"--seq 0x10", "--seq is \"0x10\": give a whole number"},
      {"--seq -", "--seq is \"-\": give a whole number"},
      {"--seq=\t12", "--seq is \"\\x0912\": give a whole number"},
      {"--seq 12x", "--seq is \"12x\": \"x\" after the number makes no sense"},
      {"--seq 1.5", "--seq is \"1.5\": \".5\" after the number makes no sense"},
      {"--seq 1e3", "--seq is \"1e3\": \"e3\" after the number makes no sense"},
      {"--seed 1,000", "--seed is \"1,000\": \",000\" after the number makes no sense"},
      {"--seed x", "--seed is \"x\": give a whole number"},
      {"--scale big", "--scale is \"big\": give a number, such as 0.125"},
      {"--scale nan", "--scale is \"nan\": give a number, such as 0.125"},
      {"--scale -inf", "--scale is \"-inf\": give a number, such as 0.125"},
      {"--scale 0x1p3", "--scale is \"0x1p3\": give a number, such as 0.125"},
      {"--scale -.", "--scale is \"-.\": give a number, such as 0.125"},
      {"--scale 1/8", "--scale is \"1/8\": \"/8\" after the number makes no sense"},
      // Numbers out of range.
      {"--seq 0", "--seq is 0: the smallest it can be is 1"},
      {"--batch -3", "--batch is -3: the smallest it can be is 1"},
      {"--dim 0", "--dim is 0: the smallest it can be is 1"},
      {"--heads 0", "--heads is 0: the smallest it can be is 1"},
      {"--kv-heads 0", "--kv-heads is 0: the smallest it can be is 1"},
      {"--seq-q 0", "--seq-q is 0: the smallest it can be is 1"},
      {"--seq-kv 0", "--seq-kv is 0: the smallest it can be is 1"},
      {"--seq 1073741825", "--seq is 1073741825: the largest it can be is 1073741824"},
      {"--seq 4294967297", "--seq is 4294967297: the largest it can be is 1073741824"},
      {"--seq 99999999999999999999",
       "--seq is 99999999999999999999: the largest it can be is 1073741824"},
      {"--seq -99999999999999999999",
       "--seq is -99999999999999999999: the smallest it can be is 1"},
      {"--rounds 0", "--rounds is 0: the smallest it can be is 1"},
      {"--rounds 31", "--rounds is 31: the largest it can be is 30"},
      {"--warm-up -1", "--warm-up is -1: the smallest it can be is 0"},
      {"--seed -1", "--seed is -1: the smallest it can be is 0"},
      {"--emu-seed -0", "--emu-seed is -0: the smallest it can be is 0"},
      {"--seed 18446744073709551616",
       "--seed is 18446744073709551616: the largest it can be is 18446744073709551615"},
      {"--scale 1e39", "--scale is 1e39: that is too large for float32"},
      {"--scale -1e999", "--scale is -1e999: that is too large for float32"},
      // Words.
      {"--dtype fp8", "--dtype is \"fp8\": give fp16 or bf16"},
      {"--dtype FP16", "--dtype is \"FP16\": give fp16 or bf16"},
      {"--inputs random",
       "--inputs is \"random\": give normal, large, equal, onehot, ramp, limit or rising"},
      {"--out-dtype double", "--out-dtype is \"double\": give float16, bfloat16 or float32"},
      // Options that do not go together.
      {"--seq 8 --seq-q 4", "--seq sets both lengths already: leave it out, or --seq-q"},
      {"--seq-kv 8 --seq 4", "--seq sets both lengths already: leave it out, or --seq-kv"},
      {"--q Q.npy", "--q is given without --v: give all three of --q, --k and --v, or none"},
      {"--q Q.npy --v V.npy",
       "--v is given without --k: give all three of --q, --k and --v, or none"},
      {"--k K.npy --v V.npy",
       "--v is given without --q: give all three of --q, --k and --v, or none"},
      {"--q Q --k K --v V --seed 1",
       "--seed makes tensors, and --q, --k and --v read them: leave one or the other out"},
      {"--inputs ramp --q Q --k K --v V",
       "--inputs makes tensors, and --q, --k and --v read them: leave one or the other out"},
      {"--out O --out-dtype bfloat16", "O is fp16: --out-dtype can be float16 or float32"},
      {"--out O --out-dtype float16 --dtype bf16",
       "O is bf16: --out-dtype can be bfloat16 or float32"},
      {"--out-dtype float32",
       "--out-dtype is the type of the file that --out names: give --out as well"},
      {"--out X --lse X", "--out and --lse name the same file X: give another name to write to"},
      {"--q Q --k K --v V --out V",
       "--out and --v name the same file V: give another name to write to"},
      {"--q Q --k K --v V --lse Q",
       "--lse and --q name the same file Q: give another name to write to"},
      {"--no-time --rounds 3",
       "--rounds says how to measure the time and --no-time not to: leave one out"},
      {"--warm-up 3 --no-time",
       "--warm-up says how to measure the time and --no-time not to: leave one out"},
      {"--warm-l2 --no-time",
       "--warm-l2 says how to measure the time and --no-time not to: leave one out"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    options parsed;
    error_text error;
    const bool accepted = parse(cases[i].arguments, &parsed, &error);
    cr_expect(!accepted, "'%s' was accepted", cases[i].arguments);
    cr_expect_str_eq(error.text, cases[i].sentence, "'%s' gave: %s", cases[i].arguments,
                     error.text);
  }
}

Test(options, long_words_are_cut_not_overrun) {
  char arguments[4000] = "--";
  memset(arguments + 2, 'x', sizeof arguments - 3);
  options parsed;
  error_text error;
  cr_expect(!parse(arguments, &parsed, &error));
  cr_expect_eq(strlen(error.text), sizeof error.text - 1);
}

Test(options, the_device_decides) {
  const struct {
    const char *arguments;
    const char *on_gpu; // NULL when it goes
    const char *on_emulator;
  } cases[] = {
      {"", NULL, NULL},
      {"--no-time", NULL, NULL},
      {"--emu-seed 0",
       "--emu-seed sets the emulator's order of threads, and this program runs on a GPU, whose "
       "order nobody can set: leave it out",
       NULL},
      {"--rounds 5", NULL,
       "--rounds says how to measure the time, which on the emulator means nothing: leave it "
       "out, or build with DEVICE=gpu"},
      {"--warm-up 5", NULL,
       "--warm-up says how to measure the time, which on the emulator means nothing: leave it "
       "out, or build with DEVICE=gpu"},
      {"--warm-l2", NULL,
       "--warm-l2 says how to measure the time, which on the emulator means nothing: leave it "
       "out, or build with DEVICE=gpu"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const options parsed = parse_good(cases[i].arguments);
    for (int emulated = 0; emulated < 2; emulated++) {
      const char *expected = emulated ? cases[i].on_emulator : cases[i].on_gpu;
      error_text error = {""};
      cr_expect_eq(options_fit_device(&parsed, emulated, &error), expected == NULL, "'%s'",
                   cases[i].arguments);
      cr_expect_str_eq(error.text, expected ? expected : "", "'%s' gave: %s", cases[i].arguments,
                       error.text);
    }
  }
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
