// Tests the numbers that are read from nvidia-smi's output, the origin that a record states, and its folder.
#define _GNU_SOURCE
#include "record/folder.h"
#include "record/record.h"
#include "tests/kept.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// These stand in for CUDA's own, whose minor version may be 0.
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 12080, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *version) { return *version = 13010, cudaSuccess; }

Test(record, reads_the_line_of_nvidia_smi) {
  const record_state state =
      record_parse_state("580.159.04, 1980 MHz, 3201 MHz, 118.93 W, 700.00 W, 37");
  cr_expect_str_eq(state.driver, "580.159.04");
  cr_expect_eq(state.sm_clock_mhz, 1980);
  cr_expect_eq(state.memory_clock_mhz, 3201);
  cr_expect_eq(state.power_w, 118.93);
  cr_expect_eq(state.power_limit_w, 700);
  cr_expect_eq(state.temperature_c, 37);
  cr_expect_str_eq(kept(record_parse_state(" 580.159.04 , 1980 MHz").driver), "580.159.04");
}

Test(record, what_is_not_told_is_no_number) {
  const record_state state = record_parse_state("535.54, 1980 MHz, [N/A], [Not Supported],, 40");
  cr_expect_str_eq(state.driver, "535.54");
  cr_expect_eq(state.sm_clock_mhz, 1980);
  cr_expect(isnan(state.memory_clock_mhz) && isnan(state.power_w) && isnan(state.power_limit_w));
  cr_expect_eq(state.temperature_c, 40);

  static const char *const nothing[] = {"", "unknown", "No devices were found", ",,,,,"};
  for (int i = 0; i < 4; i++) {
    const record_state none = record_parse_state(nothing[i]);
    cr_expect_str_empty(none.driver, "\"%s\"", nothing[i]);
    cr_expect(isnan(none.sm_clock_mhz) && isnan(none.memory_clock_mhz) && isnan(none.power_w) &&
                  isnan(none.power_limit_w) && isnan(none.temperature_c),
              "\"%s\"", nothing[i]);
  }
}

Test(record, the_given_commit_comes_first) {
  setenv("LAB_COMMIT", "v1.0-123-gabc1234-dirty", 1);
  const record_origin origin = record_read_origin();
  cr_expect_str_eq(origin.commit, "v1.0-123-gabc1234-dirty");
  cr_expect_eq(strlen(origin.date), strlen("2026-11-20T14:26:19Z"), "%s", origin.date);
  cr_expect(origin.date[10] == 'T' && origin.date[19] == 'Z', "%s", origin.date);
  cr_expect_str_eq(origin.cuda, "12.8");
  setenv("LAB_COMMIT", "", 1);
  record_begin();
  cr_expect_str_not_empty(kept(record_read_origin().commit));
}

// The program is compiled from the commit at the start. Another one may be made while it measures.
Test(record, the_commit_is_that_of_the_start) {
  setenv("LAB_COMMIT", "before1", 1);
  record_begin();
  setenv("LAB_COMMIT", "later22", 1);
  cr_expect_str_eq(kept(record_read_origin().commit), "before1");
  record_begin();
  cr_expect_str_eq(kept(record_read_origin().commit), "later22");
}

// So records from several places can be put in order.
Test(record, the_date_is_that_of_now_in_utc) {
  setenv("TZ", "FIVE-5", 1);
  tzset();
  const time_t before = time(NULL);
  const record_origin origin = record_read_origin();
  struct tm date = {0};
  cr_assert_not_null(strptime(origin.date, "%Y-%m-%dT%H:%M:%SZ", &date), "%s", origin.date);
  cr_expect(timegm(&date) >= before && timegm(&date) <= time(NULL), "%s", origin.date);
  unsetenv("TZ");
}

// Puts a program into the folder, which prints the line and then fails, or not.
static void put_program(const char *folder, const char *name, const char *line, int status) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fprintf(file, "#!/bin/sh\necho '%s'\nexit %d\n", line, status);
  cr_assert(fclose(file) == 0 && chmod(path, 0700) == 0);
}

static void remove_program(const char *folder, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  remove(path);
}

// The output of a program that fails is not believed, and the emulator has no state, whatever GPU is beside it.
Test(record, answers_of_other_programs) {
  char folder[] = "/tmp/lab-record-XXXXXX";
  char *const path = strdup(getenv("PATH"));
  cr_assert_not_null(mkdtemp(folder));
  put_program(folder, "git", "abc1234", 1);
  put_program(folder, "nvidia-smi", "580.159.04, 1980 MHz, 3201 MHz, 118.93 W, 700.00 W, 37", 0);
  setenv("PATH", folder, 1);
  unsetenv("LAB_COMMIT");
  record_begin();
  const record_origin failed = record_read_origin();
  put_program(folder, "git", "abc1234: '\"$*\"'", 0); // which says as well how it was called
  record_begin();
  const record_origin good = record_read_origin();
  const device_info device = {.emulated = true};
  const record_state state = record_read_state(&device);
  setenv("PATH", path, 1);
  free(path);
  cr_expect_str_eq(failed.commit, "unknown");
  // Numbers of a changed checkout are not those of its commit.
  cr_expect_str_eq(good.commit, "abc1234: describe --always --dirty");
  cr_expect(!*state.driver && isnan(state.sm_clock_mhz), "%s", state.driver);
  remove_program(folder, "git");
  remove_program(folder, "nvidia-smi");
  rmdir(folder);
}

Test(record, comment_lines_of_the_emulator_tell_no_state) {
  char text[2048] = "";
  FILE *file = fmemopen(text, sizeof text, "w");
  const device_info device = {.name = "emulator", .compute_capability = 75, .emulated = true};
  const record_state state = {.sm_clock_mhz = 1980};
  record_write(file, &device, "after", &state);
  fclose(file);
  cr_expect(strstr(text, "# after: device = emulator, compute capability 7.5, "), "%s", text);
  cr_expect(!strstr(text, "gpu = ") && !strstr(text, "1980"), "%s", text);
}

Test(record, comment_lines) {
  char text[2048] = "";
  FILE *file = fmemopen(text, sizeof text, "w");
  const device_info device = {
      .name = "NVIDIA H200", .compute_capability = 90, .multiprocessors = 132};
  const record_state state =
      record_parse_state("580.159.04, 1980 MHz, 3201 MHz, 118.93 W, 700.00 W, 37");
  setenv("LAB_COMMIT", "abc1234", 1);
  record_write(file, &device, "before", &state);
  fclose(file);
  cr_expect(strstr(text, "# before: device = NVIDIA H200, compute capability 9.0, 132 "
                         "multiprocessors, CUDA runtime 12.8, driver API 13.1\n"),
            "%s", text);
  cr_expect(strstr(text, "\n# before: driver_version,clocks.sm,clocks.mem,power.draw,power.limit,"
                         "temperature.gpu = 580.159.04, 1980 MHz, 3201 MHz, 118.93 W, 700.00 W, "
                         "37\n"),
            "%s", text);
  cr_expect(strstr(text, "\n# before: gpu = "), "%s", text);
  cr_expect(strstr(text, "\n# before: commit = abc1234, date = 2"), "%s", text);
}

// The folders above it need not be there: those of the reader's own files are made by the first exercise only.
Test(record, its_folder_is_made) {
  char base[] = "/tmp/lab-record-XXXXXX", data[64];
  cr_assert_not_null(mkdtemp(base));
  snprintf(data, sizeof data, "%s/mine/.data", base);
  const device_info device = {.slug = "test-gpu"};
  record_folder folder;
  error_text error;
  for (int i = 0; i < 2; i++)
    cr_assert(record_folder_make(data, &device, &folder, &error), "%s", error.text);
  cr_expect_eq(access(folder.path, W_OK), 0);
  cr_expect_not_null(strstr(folder.path, "/mine/.data/test-gpu"), "%s", folder.path);
  rmdir(folder.path);
  // A file of that name is found before the work begins, and not when its results are written.
  fclose(fopen(folder.path, "w"));
  cr_expect(!record_folder_make(data, &device, &folder, &error));
  cr_expect(strstr(error.text, "test-gpu: Not a directory"), "%s", error.text);
  cr_expect(!record_save(&folder, "ladder", "a", 1, &error));
  cr_expect(strstr(error.text, "test-gpu/ladder.csv"), "%s", error.text);
  remove(folder.path), rmdir(data);
  snprintf(data, sizeof data, "%s/mine", base);
  rmdir(data), rmdir(base);
  cr_assert(!record_folder_make("", &device, &folder, &error));
  cr_expect_str_eq(error.text, "the data folder has no name: name one, such as results");
  cr_assert(!record_folder_make("/dev/null/x", &device, &folder, &error));
  cr_expect_not_null(strstr(error.text, "cannot make the folder /dev/null/x: "), "%s", error.text);
}
