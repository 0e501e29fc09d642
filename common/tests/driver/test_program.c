// Runs a step's program as a reader does. LAB_PROGRAM names the program of a good step, such as
// build/cpu/step04; LAB_SABOTAGED that of sabotaged_step.c.
#define _GNU_SOURCE
#include "npy/npy.h"
#include "program.h"
#include <criterion/hooks.h>

static void find_program(void) { program_find("LAB_PROGRAM"); }
static void find_sabotaged(void) { program_find("LAB_SABOTAGED"); }

TestSuite(program, .init = find_program, .fini = temporary_folder_leave);
TestSuite(sabotaged, .init = find_sabotaged, .fini = temporary_folder_leave);

// A skipped test is easily overlooked.
ReportHook(PRE_ALL)(struct criterion_test_set *tests) {
  (void)tests;
  const char *const variables[] = {"LAB_PROGRAM", "LAB_SABOTAGED"};
  for (int i = 0; i < 2; i++) {
    if (!getenv(variables[i])) {
      fprintf(stderr, "%s names no program: its tests are skipped\n", variables[i]);
    }
  }
}

static bool emulated(void) {
  return strstr(program_run("--seq 1 --no-time").out, "\ndevice     Emulated ") != NULL;
}

Test(program, reports) {
  const bool cpu = emulated();
  const program_result result = program_expect_good(cpu ? "" : "--rounds 5");
  cr_expect(program_begins(result.out, "step       "), "%s", result.out);
  cr_expect(strstr(result.out, cpu ? "\nshape      batch 1, heads 2, seq 128, dim 64, fp16, scale "
                                     "0.125\ninputs     normal, seed 1\n"
                                   : "\nshape      batch 4, heads 8, seq 512, dim 64, fp16, scale "
                                     "0.125\ninputs     normal, seed 1\n"),
            "%s", result.out);
  cr_expect(strstr(result.out, "\ncheck      ok: largest error of O "), "%s", result.out);
  cr_expect(strstr(result.out, cpu ? "\ncounts     " : "\ntime       median "), "%s", result.out);
  cr_expect(!strstr(result.out, cpu ? "time" : "counts"), "%s", result.out);
  cr_expect_eq(temporary_folder_count(), 0, "a file that was not asked for");
}

Test(program, shapes) {
  const char *const cases[] = {
      "--seq 1",
      "--seq=33 --dim=40 --dtype=bf16",
      "--seq-q 7 --seq-kv 31 --heads 4 --kv-heads 2 --causal",
      "--seq-q 31 --seq-kv 7 --causal",
      "--batch 2 --heads 1 --seq 20 --dim 1 --scale -2",
      "--seq 40 --inputs large --seed 5",
      "--seq 40 --inputs onehot",
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s --no-time", cases[i]);
    const program_result result = program_expect_good(arguments);
    cr_expect(strstr(result.out, "\ncheck      ok: "), "'%s' gave: %s", arguments, result.out);
  }
}

// Returns the text of column `number` of the CSV's second line.
static void csv_value(const char *csv, int number, char *value, size_t size) {
  const char *field = strchr(csv, '\n') + 1;
  for (; number > 0; number--) field = strchr(field, ',') + 1;
  snprintf(value, size, "%.*s", (int)strcspn(field, ",\n"), field);
}

Test(program, csv) {
  enum { CHECK = 13, MEDIAN = 19, TFLOPS = 24, ROUNDS = 25, BLOCKS = 30, THREADS = 31 };
  const bool cpu = emulated();
  const program_result result =
      program_expect_good(cpu ? "--csv --seq 40" : "--csv --seq 40 --rounds 3");
  char value[64];
  cr_expect(program_begins(result.out, "step,device,dtype,batch,"), "%s", result.out);
  csv_value(result.out, CHECK, value, sizeof value);
  cr_expect_str_eq(value, "ok", "%s", result.out);
  csv_value(result.out, ROUNDS, value, sizeof value);
  cr_expect_str_eq(value, cpu ? "" : "3", "%s", result.out);
  const int measured[] = {MEDIAN, TFLOPS, BLOCKS, THREADS};
  for (int i = 0; i < 4; i++) {
    csv_value(result.out, measured[i], value, sizeof value);
    const bool there = (measured[i] >= BLOCKS) == cpu;
    cr_expect(there ? atof(value) > 0 : *value == '\0', "column %d is '%s'", measured[i], value);
  }
}

Test(program, help) {
  const program_result result = program_expect_good("--help");
  cr_expect(program_begins(result.out, "NAME\n  "), "%s", result.out);
  cr_expect(strstr(result.out, program_path), "the usage does not name the program");
}

Test(program, bad_input) {
  program_expect_refused("--seq 0", "error: --seq is 0: the smallest it can be is 1\n");
  program_expect_refused("--sead 1", "error: there is no option --sead: the nearest is --seed");
  program_expect_refused("--heads 8 --kv-heads 3", "error: heads is 8 and kv_heads is 3: ");
  program_expect_refused("--dim 100000", "error: step ");
  program_expect_refused("--batch 1073741824 --seq 1073741824 --dim 128", "error: 1073741824x");
  program_expect_refused("--q Q.npy --k K.npy --v V.npy",
                         "error: cannot open Q.npy: No such file or directory\n");
  program_expect_refused("--out none/O.npy",
                         "error: cannot write none/O.npy: No such file or directory");
  program_expect_refused("--lse /dev/null", "error: cannot write /dev/null: ");
  if (emulated()) {
    program_expect_refused("--rounds 3",
                           "error: --rounds says how to measure the time, which on the ");
  } else {
    program_expect_refused("--emu-seed 3",
                           "error: --emu-seed sets the emulator's order of threads, ");
  }
  cr_expect_eq(temporary_folder_count(), 0, "a failed run left a file behind");
}

// They end the program in the middle, and still the message is theirs alone.
Test(program, bad_settings_of_the_emulator) {
  static const char *const settings[][3] = {
      {"EMU_GPU", "voodoo2",
       "error: EMU_GPU is \"voodoo2\", which the emulator does not know: use h200, "},
      {"EMU_GPUS", "9", "error: EMU_GPUS is \"9\", which is not a whole number from 1 to 8\n"},
      {"LAB_LIMIT", "soon",
       "error: LAB_LIMIT is \"soon\", which is not a number of seconds from 0 to "},
      {"EMU_KERNELS", "none/file",
       "error: the kernels' names cannot be written to EMU_KERNELS, \"none/file\"\n"},
  };
  if (!emulated()) cr_skip_test("these are settings of the emulator");
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    setenv(settings[i][0], settings[i][1], 1);
    program_expect_refused("--batch 1 --heads 2 --seq 16", settings[i][2]);
    unsetenv(settings[i][0]);
  }
}

Test(program, full_disk) {
  const char *const arguments[] = {"--seq 1 --no-time", "--seq 1 --no-time --csv", "--help"};
  for (int i = 0; i < 3; i++) {
    const program_result result = program_run_to("/dev/full", arguments[i]);
    cr_expect_eq(result.status, 2, "'%s' ended with %d", arguments[i], result.status);
    cr_expect_str_eq(result.err,
                     "error: writing to standard output failed: No space left on device\n");
  }
}

// More threads than any machine has would crash OpenMP's library. That of clang ends with an assertion of its own before
// the program begins if there are more than some millions.
Test(program, threads_by_the_million) {
#ifdef __clang__
  const char *const counts[] = {"1000000", "1"};
#else
  const char *const counts[] = {"1000000", "2147483647", "100000000000", "1"};
#endif
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    setenv("OMP_NUM_THREADS", counts[i], 1);
    program_expect_good("--batch 1 --heads 2 --seq 16 --no-time");
  }
}

static void read_bytes(const char *path, char *bytes, size_t size) {
  memset(bytes, 0, size);
  FILE *file = fopen(path, "r");
  cr_assert(file && fread(bytes, 1, size, file) > 1000, "%s is not there or short", path);
  fclose(file);
}

Test(program, seeds) {
  static char one[8192], again[8192], other[8192];
  program_expect_good("--batch 1 --heads 2 --seq 16 --no-time --out a.npy");
  program_expect_good("--batch 1 --heads 2 --seq 16 --no-time --out b.npy --seed 1");
  const program_result result =
      program_expect_good("--batch 1 --heads 2 --seq 16 --no-time --out c.npy --seed 2");
  cr_expect(strstr(result.out, "\ninputs     normal, seed 2\n"), "%s", result.out);
  read_bytes("a.npy", one, sizeof one);
  read_bytes("b.npy", again, sizeof again);
  read_bytes("c.npy", other, sizeof other);
  cr_expect_eq(memcmp(one, again, sizeof one), 0, "the same seed gave another result");
  cr_expect_neq(memcmp(one, other, sizeof one), 0, "another seed gave the same result");
  if (!emulated()) return;
  program_expect_good("--batch 1 --heads 2 --seq 16 --out d.npy --emu-seed 7");
  read_bytes("d.npy", other, sizeof other);
  cr_expect_eq(memcmp(one, other, sizeof one), 0, "the order of threads changed the result");
}

// ---- A step that is wrong -----------------------------------------------------------------------

Test(sabotaged, is_told) {
  const struct {
    const char *kind;
    int status;
    const char *sentence; // how stderr begins
  } cases[] = {
      {"nothing", 0, ""},
      {"zeros", 1, "error: O is wrong at batch 0, head 0, row 0, column 0: expected "},
      {"unwritten", 1, "error: O is wrong at batch 0, head 0, row 0, column 0: expected "},
      {"lse", 1, "error: lse is wrong at batch 0, head 1, row 39: "},
      {"o_alone", 1, "error: where lse is not asked for: O is wrong at batch 0, head 0, row 0, "},
      {"outside", 1, "error: something was written outside O: "},
      {"input", 1, "error: the step changed its input K\n"},
      {"unsupported", 2, "error: step 00_sabotaged cannot take 1x2x40x8 fp16: it takes nothing\n"},
      {"workspace", 2, "error: the workspace would have 1.845e+13 MB, more than any memory: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("SABOTAGE", cases[i].kind, 1);
    const program_result result =
        program_run("--batch 1 --heads 2 --seq 40 --dim 8 --no-time --out O.npy --lse L.npy");
    const int status = cases[i].status;
    cr_expect_eq(result.status, status, "%s ended with %d", cases[i].kind, result.status);
    cr_expect(program_begins(result.err, cases[i].sentence), "%s said: %s", cases[i].kind,
              result.err);
    cr_expect_eq(temporary_folder_count(), status == 0 ? 2 : 0, "%s: files", cases[i].kind);
    cr_expect(status != 0 || !*result.err, "%s said: %s", cases[i].kind, result.err);
    cr_expect(status != 1 || strstr(result.out, "\ncheck      FAILED: "), "%s printed: %s",
              cases[i].kind, result.out);
    cr_expect(status != 1 || strstr(result.err, "\nnote: nothing was written to O.npy and L.npy, "
                                                "because the result is wrong\n"),
              "%s said: %s", cases[i].kind, result.err);
    cr_expect(status != 2 || !*result.out, "%s printed: %s", cases[i].kind, result.out);
    cr_expect(status == 2 || strstr(result.out, "\nworkspace  12 bytes\n"), "%s printed: %s",
              cases[i].kind, result.out);
    unlink("O.npy");
    unlink("L.npy");
  }
}

// A launch that fails is the step's fault, not bad input. There is no result to report on.
Test(sabotaged, ends_with_1_where_a_launch_fails) {
  static const char *const kinds[] = {"launch", "wild"};
  static const char *const options[] = {"", " --no-check"};
  for (size_t i = 0; i < 4; i++) {
    char arguments[128];
    setenv("SABOTAGE", kinds[i / 2], 1);
    snprintf(arguments, sizeof arguments, "--seq 40 --dim 8 --no-time --out O.npy%s",
             options[i % 2]);
    const program_result result = program_run(arguments);
    cr_expect_eq(result.status, 1, "%s ended with %d", kinds[i / 2], result.status);
    cr_expect(strstr(result.err, "error: launching the step failed: ") ||
                  strstr(result.err, "error: running the step failed: "), // on a GPU, a wild kernel
              "%s said: %s", kinds[i / 2], result.err);
    cr_expect_str_empty(result.out);
    cr_expect_eq(temporary_folder_count(), 0, "%s left a file", kinds[i / 2]);
  }
}

// An error that is known before the run is reported before the run.
Test(sabotaged, is_not_even_run) {
  setenv("SABOTAGE", "launch", 1);
  program_expect_refused("--seq 8 --out none/O.npy", "error: cannot write none/O.npy: ");
  program_expect_refused("--seq 8 --lse none/L.npy", "error: cannot write none/L.npy: ");
}

Test(sabotaged, leaves_the_old_file) {
  FILE *old = fopen("O.npy", "w");
  fputs("old", old);
  fclose(old);
  setenv("SABOTAGE", "zeros", 1);
  cr_expect_eq(program_run("--seq 8 --no-time --out O.npy").status, 1);
  char bytes[8] = "";
  old = fopen("O.npy", "r");
  cr_assert(old && fgets(bytes, sizeof bytes, old), "O.npy has gone");
  cr_expect_str_eq(bytes, "old");
  fclose(old);
  cr_expect_eq(temporary_folder_count(), 1);
  // The output is written without a check, as --no-check promises.
  const program_result unchecked = program_run("--seq 8 --no-time --no-check --out O.npy");
  cr_expect_eq(unchecked.status, 0, "%s", unchecked.err);
  npy_array array;
  error_text error;
  cr_expect(npy_read("O.npy", &array, &error), "%s", error.text);
  npy_free(&array);
}

Test(program, o_alone) {
  const program_result result = program_run("--seq 8 --no-time --o-alone");
  cr_expect(result.status == 0 && strstr(result.out, "; lse was not asked for\n"), "%s",
            result.out);
}

Test(sabotaged, is_not_timed) {
  setenv("SABOTAGE", "zeros", 1);
  const program_result result = program_run("--seq 8 --csv");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.out, ",FAILED,"), "%s", result.out);
  char median[64];
  csv_value(result.out, 19, median, sizeof median);
  cr_expect_str_empty(median, "a wrong result was timed: %s", result.out);
}
