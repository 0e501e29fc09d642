#define _GNU_SOURCE
#include "../driver/command_line.h"
#include "../driver/temporary_folder.h"
#include "numeric/float16.h"
#include "shape/shape.h"
#include "tensors/tensors.h"
#include "tests/kept.h"
#include <math.h>

TestSuite(tensors, .init = temporary_folder_enter, .fini = temporary_folder_leave);

static const char files_given[] = "--q Q.npy --k K.npy --v V.npy";

static command_line words; // the options point into it

static options parse(const char *more) {
  char arguments[512];
  snprintf(arguments, sizeof arguments, "%s%s%s", files_given, *more ? " " : "", more);
  options parsed;
  error_text error;
  command_line_split(&words, "step", arguments);
  cr_assert(options_parse(words.argc, words.argv, &parsed, &error), "%s", error.text);
  return parsed;
}

typedef struct {
  size_t size[4];
} size4;

static void write_file(const char *path, npy_dtype dtype, int rank, const size_t *size,
                       const void *data) {
  error_text error;
  cr_assert(npy_write(path, dtype, rank, size, data, &error), "%s", error.text);
}

static void write_zeros(const char *path, npy_dtype dtype, int rank, const size_t *size) {
  size_t count = 1;
  for (int i = 0; i < rank; i++) count *= size[i];
  void *zeros = calloc(count + 1, npy_element_bytes(dtype));
  write_file(path, dtype, rank, size, zeros);
  free(zeros);
}

// Opens and fills as the program does; when this returns true, the caller frees the trial.
static bool load(const options *options, trial *trial, error_text *error) {
  tensor_files files;
  attention_shape shape;
  memset(trial, 0, sizeof *trial);
  const bool good = tensors_open(options, true, &files, &shape, error) &&
                    trial_create(trial, &shape, error) &&
                    tensors_fill(options, &files, trial, error);
  tensors_close(&files);
  if (!good) trial_free(trial);
  return good;
}

static void expect_refused(const options *options, const char *sentence) {
  trial trial;
  error_text error = {"nothing"};
  cr_expect(!load(options, &trial, &error), "accepted, and should have said: %s", sentence);
  cr_expect_str_eq(error.text, sentence, "said: %s\nexpected: %s", error.text, sentence);
}

Test(tensors, made_without_files) {
  options parsed;
  error_text error;
  command_line_split(&words, "step", "--seq 9 --dim 5 --inputs ramp --seed 3 --dtype bf16");
  cr_assert(options_parse(words.argc, words.argv, &parsed, &error));
  trial trial;
  cr_assert(load(&parsed, &trial, &error), "%s", error.text);
  cr_expect_str_eq(kept(shape_describe(&trial.shape).text), "1x2x9x5 bf16");
  uint16_t expected[2 * 9 * 5];
  const uint16_t *tensors[3] = {trial.q, trial.k, trial.v};
  for (int i = 0; i < 3; i++) {
    inputs_fill(&trial.shape, INPUTS_RAMP, (inputs_tensor)i, 3, expected);
    cr_expect_arr_eq(tensors[i], expected, sizeof expected, "tensor %d", i);
  }
  trial_free(&trial);
}

Test(tensors, shape_and_scale_come_from_the_files) {
  const size_t q_size[4] = {2, 6, 5, 16};
  const size_t kv_size[4] = {2, 3, 7, 16};
  write_zeros("Q.npy", NPY_FLOAT16, 4, q_size);
  write_zeros("K.npy", NPY_FLOAT32, 4, kv_size);
  write_zeros("V.npy", NPY_FLOAT16, 4, kv_size);
  const char *const arguments[] = {
      "", "--batch 2 --heads 6 --kv-heads 3 --seq-q 5 --seq-kv 7 --dim 16", "--scale 0.25"};
  for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
    const options options = parse(arguments[i]);
    trial trial;
    error_text error;
    cr_assert(load(&options, &trial, &error), "'%s': %s", arguments[i], error.text);
    cr_expect_str_eq(kept(shape_describe(&trial.shape).text), "2x6x5x16 fp16, kv 2x3x7x16");
    cr_expect_float_eq(trial.shape.scale, 0.25f, 0);
    trial_free(&trial);
  }
  const options options = parse("--scale 3 --causal --dtype bf16");
  trial trial;
  error_text error;
  cr_assert(load(&options, &trial, &error), "%s", error.text);
  cr_expect_str_eq(kept(shape_describe(&trial.shape).text), "2x6x5x16 bf16 causal, kv 2x3x7x16");
  cr_expect_float_eq(trial.shape.scale, 3.0f, 0);
  trial_free(&trial);
}

// Q, K and V go to their own tensors, and every type of file ends in the bits expected.
Test(tensors, conversion) {
  enum { COUNT = 6 };
  const size_t size[4] = {1, 1, 2, 3};
  // A tie rounds to even, both ways; a subnormal of fp16; the largest finite fp16 before infinity.
  const float floats[COUNT] = {1.0f, 1.0f + 0x1p-11f, 1.0f + 0x3p-11f, -0.0f, 0x1p-24f, 65519.0f};
  const uint16_t as_fp16[COUNT] = {0x3c00, 0x3c00, 0x3c02, 0x8000, 0x0001, 0x7bff};
  const uint16_t as_bf16[COUNT] = {0x3f80, 0x3f80, 0x3f80, 0x8000, 0x3380, 0x4780};
  const uint16_t halves[COUNT] = {0x3c00, 0x3c01, 0xbc00, 0x8000, 0x0001, 0x7bff};
  // 1 + 2^-10 rounds to 1 in bf16, and 65504 to 65536.
  const uint16_t halves_as_bf16[COUNT] = {0x3f80, 0x3f80, 0xbf80, 0x8000, 0x3380, 0x4780};
  const uint16_t brains[COUNT] = {0x3f80, 0x3f81, 0xbf80, 0x8000, 0x0001, 0x7f7f};
  const struct {
    const char *arguments;
    npy_dtype dtype;
    const void *data;
    const uint16_t *expected;
  } cases[] = {
      {"", NPY_FLOAT32, floats, as_fp16},
      {"", NPY_FLOAT16, halves, halves},
      {"--dtype bf16", NPY_FLOAT32, floats, as_bf16},
      {"--dtype bf16", NPY_FLOAT16, halves, halves_as_bf16},
      {"--dtype bf16", NPY_UINT16, brains, brains},
  };
  const char *const paths[3] = {"Q.npy", "K.npy", "V.npy"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int tensor = 0; tensor < 3; tensor++) {
      for (int other = 0; other < 3; other++) {
        if (other == tensor) {
          write_file(paths[other], cases[i].dtype, 4, size, cases[i].data);
        } else {
          write_zeros(paths[other], NPY_FLOAT32, 4, size);
        }
      }
      const options options = parse(cases[i].arguments);
      trial trial;
      error_text error;
      cr_assert(load(&options, &trial, &error), "case %zu: %s", i, error.text);
      const uint16_t *filled[3] = {trial.q, trial.k, trial.v};
      const uint16_t zeros[COUNT] = {0};
      for (int other = 0; other < 3; other++) {
        const uint16_t *expected = other == tensor ? cases[i].expected : zeros;
        for (int j = 0; j < COUNT; j++) {
          cr_expect_eq(filled[other][j], expected[j], "case %zu, %s[%d]: %04x, expected %04x", i,
                       paths[other], j, filled[other][j], expected[j]);
        }
      }
      trial_free(&trial);
    }
  }
}

Test(tensors, sizes_that_do_not_fit_together) {
  const struct {
    size4 q, k, v;
    const char *sentence;
  } cases[] = {
      {{{2, 8, 128, 64}},
       {{2, 8, 64, 32}},
       {{2, 8, 64, 32}},
       "K is 2x8x64x32 but Q is 2x8x128x64: head_dim differs (32, 64)"},
      {{{2, 8, 16, 4}},
       {{1, 8, 16, 4}},
       {{1, 8, 16, 4}},
       "K is 1x8x16x4 but Q is 2x8x16x4: batch differs (1, 2)"},
      {{{1, 8, 16, 4}},
       {{1, 2, 16, 4}},
       {{1, 4, 16, 4}},
       "V is 1x4x16x4 but K is 1x2x16x4: kv_heads differs (4, 2)"},
      {{{1, 8, 16, 4}},
       {{1, 8, 16, 4}},
       {{1, 8, 17, 4}},
       "V is 1x8x17x4 but K is 1x8x16x4: seq_kv differs (17, 16)"},
      {{{1, 8, 16, 4}},
       {{1, 8, 16, 4}},
       {{1, 8, 16, 8}},
       "V is 1x8x16x8 but K is 1x8x16x4: head_dim differs (8, 4)"},
      {{{1, 8, 16, 4}},
       {{1, 3, 16, 4}},
       {{1, 3, 16, 4}},
       "heads is 8 and kv_heads is 3: heads must be a multiple of kv_heads, so that each key/value "
       "head serves the same number of query heads"},
      {{{0, 8, 16, 4}}, {{1, 8, 16, 4}}, {{1, 8, 16, 4}}, "Q.npy is 0x8x16x4: it holds no element"},
      {{{1, 8, 16, 4}}, {{1, 8, 16, 4}}, {{1, 8, 16, 0}}, "V.npy is 1x8x16x0: it holds no element"},
  };
  const options options = parse("");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_zeros("Q.npy", NPY_FLOAT16, 4, cases[i].q.size);
    write_zeros("K.npy", NPY_FLOAT16, 4, cases[i].k.size);
    write_zeros("V.npy", NPY_FLOAT16, 4, cases[i].v.size);
    expect_refused(&options, cases[i].sentence);
  }
}

Test(tensors, files_that_are_no_tensors) {
  const size_t size[5] = {1, 2, 3, 4, 1};
  const char *const paths[3] = {"Q.npy", "K.npy", "V.npy"};
  const options options = parse("");
  for (int i = 0; i < 3; i++) {
    for (int other = 0; other < 3; other++) write_zeros(paths[other], NPY_FLOAT16, 4, size);
    char sentence[256];
    write_zeros(paths[i], NPY_FLOAT16, 3, size);
    snprintf(sentence, sizeof sentence,
             "%s is 1x2x3: give an array of rank 4, (batch, heads, seq, head_dim)", paths[i]);
    expect_refused(&options, sentence);
    write_zeros(paths[i], NPY_FLOAT16, 5, size);
    snprintf(sentence, sizeof sentence,
             "%s is 1x2x3x4x1: give an array of rank 4, (batch, heads, seq, head_dim)", paths[i]);
    expect_refused(&options, sentence);
    write_zeros(paths[i], NPY_FLOAT16, 0, size);
    snprintf(sentence, sizeof sentence,
             "%s is a scalar: give an array of rank 4, (batch, heads, seq, head_dim)", paths[i]);
    expect_refused(&options, sentence);
    write_zeros(paths[i], NPY_UINT16, 4, size);
    snprintf(sentence, sizeof sentence,
             "%s holds uint16, which stands for the bits of bf16: add --dtype bf16", paths[i]);
    expect_refused(&options, sentence);
    unlink(paths[i]);
    snprintf(sentence, sizeof sentence, "cannot open %s: No such file or directory", paths[i]);
    expect_refused(&options, sentence);
  }
}

Test(tensors, options_that_contradict_the_files) {
  const size_t q_size[4] = {2, 6, 5, 16};
  const size_t kv_size[4] = {2, 3, 7, 16};
  write_zeros("Q.npy", NPY_FLOAT16, 4, q_size);
  write_zeros("K.npy", NPY_FLOAT16, 4, kv_size);
  write_zeros("V.npy", NPY_FLOAT16, 4, kv_size);
  const struct {
    const char *arguments;
    const char *sentence;
  } cases[] = {
      {"--batch 1", "--batch 1 contradicts Q.npy, which is 2x6x5x16: leave --batch out"},
      {"--heads 8", "--heads 8 contradicts Q.npy, which is 2x6x5x16: leave --heads out"},
      {"--kv-heads 6", "--kv-heads 6 contradicts K.npy, which is 2x3x7x16: leave --kv-heads out"},
      {"--seq-q 7", "--seq-q 7 contradicts Q.npy, which is 2x6x5x16: leave --seq-q out"},
      {"--seq-kv 5", "--seq-kv 5 contradicts K.npy, which is 2x3x7x16: leave --seq-kv out"},
      {"--seq 7", "--seq 7 contradicts Q.npy, which is 2x6x5x16: leave --seq out"},
      {"--seq 5", "--seq 5 contradicts K.npy, which is 2x3x7x16: leave --seq out"},
      {"--dim 64", "--dim 64 contradicts Q.npy, which is 2x6x5x16: leave --dim out"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const options options = parse(cases[i].arguments);
    expect_refused(&options, cases[i].sentence);
  }
}

Test(tensors, numbers_that_are_not_finite) {
  const size_t size[4] = {2, 2, 1, 3}; // element 10 is at (1, 1, 0, 1)
  const struct {
    const char *arguments;
    float value;
    const char *sentence;
  } cases[] = {
      {"", 65520.0f,
       "K.npy holds 65520 at (1, 1, 0, 1), which becomes infinite in fp16, whose largest value is "
       "65504: make the values smaller, or use --dtype bf16"},
      {"", -70000.0f,
       "K.npy holds -70000 at (1, 1, 0, 1), which becomes infinite in fp16, whose largest value "
       "is 65504: make the values smaller, or use --dtype bf16"},
      {"", NAN, "K.npy holds nan at (1, 1, 0, 1): attention is defined for finite numbers only"},
      {"", -INFINITY,
       "K.npy holds -inf at (1, 1, 0, 1): attention is defined for finite numbers only"},
      {"--dtype bf16", 0x1.ffp127f,
       "K.npy holds 3.39617753e+38 at (1, 1, 0, 1), which becomes infinite in bf16: make the "
       "values smaller"},
  };
  write_zeros("Q.npy", NPY_FLOAT16, 4, size);
  write_zeros("V.npy", NPY_FLOAT16, 4, size);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    float values[12] = {0};
    values[10] = cases[i].value;
    values[11] = NAN; // it is the first that is named
    write_file("K.npy", NPY_FLOAT32, 4, size, values);
    const options options = parse(cases[i].arguments);
    expect_refused(&options, cases[i].sentence);
  }
  uint16_t halves[12] = {0};
  halves[5] = 0x7c00;
  write_file("K.npy", NPY_FLOAT16, 4, size, halves);
  const options options = parse("");
  expect_refused(&options,
                 "K.npy holds inf at (0, 1, 0, 2): attention is defined for finite numbers only");
}
