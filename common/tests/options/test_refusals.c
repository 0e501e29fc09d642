// Tests what the options refuse, and the sentences that say why.
#define _GNU_SOURCE
#include "parse.h"

Test(refusals, say_what_is_wrong) {
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
      {"--seq .5", "--seq is \".5\": give a whole number"},
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
      {"--scale 0X10", "--scale is \"0X10\": give a number, such as 0.125"},
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
      {"--warm-up 1000001", "--warm-up is 1000001: the largest it can be is 1000000"},
      {"--splits 0", "--splits is 0: the smallest it can be is 1"},
      {"--splits 65537", "--splits is 65537: the largest it can be is 65536"},
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
      {"--out X --lse ./X", "--out and --lse name the same file X: give another name to write to"},
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

Test(refusals, long_words_are_cut_not_overrun) {
  char arguments[4000] = "--";
  memset(arguments + 2, 'x', sizeof arguments - 3);
  options parsed;
  error_text error;
  cr_expect(!parse(arguments, &parsed, &error));
  cr_expect_eq(strlen(error.text), sizeof error.text - 1);
}

Test(refusals, the_device_decides) {
  const struct {
    const char *arguments;
    const char *on_gpu; // NULL when it goes
    const char *on_emulator;
  } cases[] = {
      {"", NULL, NULL},
      {"--no-time", NULL, NULL},
      {"--emu-seed 0",
       "--emu-seed sets the emulator's order of threads, and this program runs on a GPU, whose "
       "order cannot be set: leave it out",
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

Test(refusals, options_for_several_gpus_on_one) {
  static const char *const several[] = {"--gpus", "--mpi"};
  for (size_t i = 0; i < 2; i++) {
    const options parsed = parse_good(i == 0 ? "--gpus 2" : "--mpi");
    error_text error = {""};
    cr_expect(!options_fit_one_gpu(&parsed, &error));
    cr_expect(strstr(error.text, several[i]) == error.text, "%s", error.text);
  }
  const options none = parse_good("--seq 8");
  error_text error;
  cr_expect(options_fit_one_gpu(&none, &error), "%s", error.text);
}
