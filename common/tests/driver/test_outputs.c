#define _GNU_SOURCE
#include "command_line.h"
#include "driver/outputs.h"
#include "npy/npy.h"
#include "numeric/float16.h"
#include "temporary_folder.h"
#include <math.h>
#include <sys/stat.h>

TestSuite(outputs, .init = temporary_folder_enter, .fini = temporary_folder_leave);

static command_line words; // the options point into it

// A trial with something in O and lse.
static trial finished_trial(attention_dtype dtype) {
  const attention_shape shape = {dtype, 1, 2, 1, 2, 5, 3, false, 1.0f};
  trial trial;
  error_text error;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  for (int i = 0; i < 12; i++) {
    const float value = (float)(i - 4) / 8;
    trial.o[i] = dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
  }
  for (int i = 0; i < 4; i++) trial.lse[i] = i == 2 ? -INFINITY : (float)i + 0.1f;
  return trial;
}

static options parse(const char *arguments) {
  options parsed;
  error_text error;
  command_line_split(&words, "step", arguments);
  cr_assert(options_parse(words.argc, words.argv, &parsed, &error), "%s", error.text);
  return parsed;
}

Test(outputs, every_type) {
  const struct {
    const char *arguments;
    attention_dtype dtype;
    npy_dtype file;
  } cases[] = {
      {"--out O.npy", ATTENTION_FP16, NPY_FLOAT16},
      {"--out O.npy --out-dtype float16", ATTENTION_FP16, NPY_FLOAT16},
      {"--out O.npy --out-dtype float32", ATTENTION_FP16, NPY_FLOAT32},
      {"--dtype bf16 --out O.npy", ATTENTION_BF16, NPY_UINT16},
      {"--dtype bf16 --out O.npy --out-dtype bfloat16", ATTENTION_BF16, NPY_UINT16},
      {"--dtype bf16 --out O.npy --out-dtype float32", ATTENTION_BF16, NPY_FLOAT32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trial trial = finished_trial(cases[i].dtype);
    const options options = parse(cases[i].arguments);
    error_text error;
    cr_assert(outputs_writable(&options, &error), "%s", error.text);
    cr_expect_eq(temporary_folder_count(), 0, "asking left a file behind");
    cr_assert(outputs_write(&options, &trial, &error), "%s", error.text);
    cr_expect_eq(temporary_folder_count(), 1, "case %zu: not one file", i);

    npy_array array;
    cr_assert(npy_read("O.npy", &array, &error), "%s", error.text);
    const size_t size[4] = {1, 2, 2, 3};
    cr_expect_eq(array.dtype, cases[i].file, "case %zu", i);
    cr_expect_eq(array.rank, 4);
    cr_expect_arr_eq(array.shape, size, sizeof size);
    for (int j = 0; j < 12; j++) {
      if (cases[i].file == NPY_FLOAT32) {
        cr_expect_float_eq(((float *)array.data)[j], (float)(j - 4) / 8, 0, "case %zu, %d", i, j);
      } else {
        cr_expect_eq(((uint16_t *)array.data)[j], trial.o[j], "case %zu, %d", i, j);
      }
    }
    npy_free(&array);
    trial_free(&trial);
    unlink("O.npy");
  }
}

Test(outputs, lse) {
  trial trial = finished_trial(ATTENTION_BF16);
  const options options = parse("--dtype bf16 --lse L.npy");
  error_text error;
  cr_assert(outputs_writable(&options, &error) && outputs_write(&options, &trial, &error), "%s",
            error.text);
  cr_expect_eq(temporary_folder_count(), 1);
  npy_array array;
  cr_assert(npy_read("L.npy", &array, &error), "%s", error.text);
  const size_t size[3] = {1, 2, 2};
  cr_expect_eq(array.dtype, NPY_FLOAT32);
  cr_expect_eq(array.rank, 3);
  cr_expect_arr_eq(array.shape, size, sizeof size);
  cr_expect_arr_eq(array.data, trial.lse, 4 * sizeof(float));
  npy_free(&array);
  trial_free(&trial);
}

Test(outputs, replaces_what_was_there) {
  trial trial = finished_trial(ATTENTION_FP16);
  const options options = parse("--out O.npy");
  FILE *old = fopen("O.npy", "w");
  fputs("old", old);
  fclose(old);
  error_text error;
  cr_assert(outputs_writable(&options, &error), "%s", error.text);
  struct stat status;
  stat("O.npy", &status);
  cr_expect_eq(status.st_size, 3, "asking changed the file");
  cr_assert(outputs_write(&options, &trial, &error), "%s", error.text);
  npy_array array;
  cr_expect(npy_read("O.npy", &array, &error), "%s", error.text);
  cr_expect_eq(temporary_folder_count(), 1);
  npy_free(&array);
  trial_free(&trial);
}

Test(outputs, nothing_asked_for_nothing_written) {
  trial trial = finished_trial(ATTENTION_FP16);
  const options options = parse("");
  error_text error;
  cr_expect(outputs_writable(&options, &error) && outputs_write(&options, &trial, &error));
  cr_expect_eq(temporary_folder_count(), 0);
  trial_free(&trial);
}

Test(outputs, places_that_cannot_be_written) {
  cr_assert(mkdir("folder", 0777) == 0 && symlink("nowhere", "link") == 0);
  char too_long[300 + 1];
  memset(too_long, 'x', 300);
  too_long[300] = '\0';
  const struct {
    const char *path;
    const char *reason;
  } cases[] = {
      {"none/O.npy", "No such file or directory: name a file in a folder that can be written"},
      {"folder", "it is a folder: name a file in it"},
      {"folder/", "it is a folder: name a file in it"},
      {"none/", "it is a folder: name a file in it"},
      {".", "it is a folder: name a file in it"},
      {"/dev/null", "it is there and not an ordinary file: give another name"},
      {"link", "it is there and not an ordinary file: give another name"},
      {too_long, "File name too long: name a file in a folder that can be written"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int lse = 0; lse < 2; lse++) {
      char arguments[512];
      char sentence[512];
      snprintf(arguments, sizeof arguments, "%s=%s", lse ? "--lse" : "--out", cases[i].path);
      snprintf(sentence, sizeof sentence, "cannot write %s: %s", cases[i].path, cases[i].reason);
      const options options = parse(arguments);
      error_text error = {"nothing"};
      cr_expect(!outputs_writable(&options, &error), "%s was found writable", cases[i].path);
      cr_expect_str_eq(error.text, sentence, "said: %s\nexpected: %s", error.text, sentence);
    }
  }
  cr_expect_eq(temporary_folder_count(), 2, "asking left a file behind");
}
