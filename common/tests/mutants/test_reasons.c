// Tests the files that say why some mutants are no faults.
#include "file/file.h"
#include "mutants/mutant.h"
#include "mutants/reasons.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <string.h>

static bool read_text(reason_list *reasons, const char *text, error_text *error) {
  return reasons_read(reasons, "headers.txt", text, strlen(text), error);
}

Test(reasons, are_found_by_key) {
  reason_list reasons;
  error_text error;
  cr_assert(read_text(&reasons,
                      "# comment\n\na.cuh: bound: `<` -> `<=`: if (x < y) z(\"# no comment\");\n"
                      "    Slower only:\n  nothing is masked.\n# another\nb.cuh: key\n\tIt is.",
                      &error),
            "%s", error.text);
  cr_assert_str_eq(
      reasons_find(&reasons, "a.cuh: bound: `<` -> `<=`: if (x < y) z(\"# no comment\");"),
      "Slower only: nothing is masked.");
  cr_assert_null(reasons_find(&reasons, "a.cuh: bound"));
  cr_assert_not(reasons_all_used(&reasons, &error));
  cr_assert_not_null(strstr(error.text, "headers.txt:7: there is no such mutant any more"), "%s",
                     error.text);
  cr_assert_str_eq(reasons_find(&reasons, "b.cuh: key"), "It is.");
  cr_assert(reasons_all_used(&reasons, &error), "%s", error.text);
  reasons_free(&reasons);
}

Test(reasons, that_cannot_be_are_refused) {
  static const char *const cases[][2] = {
      {"a key\nanother key\n  reason\n", "headers.txt:1: this mutant has no reason"},
      {"a key\n", "headers.txt:1: this mutant has no reason"},
      {"# x\n  reason\n", "headers.txt:2: a reason without a mutant"},
      {"a key\n  reason\n\na key\n  reason\n",
       "headers.txt:4: this mutant has its reason in line 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reason_list reasons;
    error_text error;
    cr_assert_not(read_text(&reasons, cases[i][0], &error), "%s", cases[i][0]);
    cr_assert_not_null(strstr(error.text, cases[i][1]), "%s", error.text);
    reasons_free(&reasons);
  }
}

Test(reasons, of_none_are_a_file_of_none) {
  reason_list reasons;
  error_text error;
  cr_assert(read_text(&reasons, "# none yet\n", &error));
  cr_assert(reasons_all_used(&reasons, &error));
  reasons_free(&reasons);
}

// Looks up the reasons of all mutants of a source.
static void find_reasons_of(const char *path, reason_list *reasons) {
  text_buffer text = {0};
  mutant_list mutants = {0};
  error_text error;
  cr_assert(text_buffer_read(&text, path, &error), "%s", error.text);
  source file = source_open(path, text.data, text.length);
  mutants_find(&file, &mutants);
  for (size_t i = 0; i < mutants.count; i++) {
    text_buffer key = {0};
    mutant_append_key(&file, &mutants, i, &key);
    text_buffer_append(&key, "", 1);
    reasons_find(reasons, key.data);
    text_buffer_free(&key);
  }
  mutants_free(&mutants);
  source_close(&file);
  text_buffer_free(&text);
}

// Expects that each reason of a file is that of a mutant of these sources.
static void expect_all_used(const char *path, char *const *sources, size_t count) {
  text_buffer text = {0};
  reason_list reasons = {0};
  error_text error;
  cr_assert(text_buffer_read(&text, path, &error) &&
                reasons_read(&reasons, path, text.data, text.length, &error),
            "%s", error.text);
  for (size_t i = 0; i < count; i++) find_reasons_of(sources[i], &reasons);
  cr_expect(reasons_all_used(&reasons, &error), "%s", error.text);
  reasons_free(&reasons);
  text_buffer_free(&text);
}

// A line of a step or a header that changes takes its mutants with it, and their reasons must follow.
Test(reasons, of_the_lab_are_of_mutants_that_are_there) {
  glob_t files;
  cr_assert_eq(glob("steps/*/mutants.txt", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char source_path[256];
    char *const sources[] = {source_path};
    snprintf(source_path, sizeof source_path, "%.*sattention.cu",
             (int)(strlen(files.gl_pathv[i]) - strlen("mutants.txt")), files.gl_pathv[i]);
    expect_all_used(files.gl_pathv[i], sources, 1);
  }
  globfree(&files);
  cr_assert_eq(glob("common/kernel/*.cuh", 0, NULL, &files), 0);
  expect_all_used("common/tools/mutants/headers.txt", files.gl_pathv, files.gl_pathc);
  globfree(&files);
}
