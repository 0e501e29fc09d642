// Runs a step's program as a reader does. LAB_PROGRAM names the program of a good step, such as
// build/cpu/step04; LAB_SABOTAGED that of sabotaged_step.c.
#define _GNU_SOURCE
#include "npy/npy.h"
#include "numeric/float16.h"
#include "program.h"
#include <criterion/hooks.h>
#include <math.h>

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

static bool begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static bool emulated(void) {
  return strstr(program_run("--seq 1 --no-time").out, "\ndevice     Emulated ") != NULL;
}

// The program failed as bad input does: exit status 2, one sentence on stderr, nothing on stdout.
static void expect_refused(const char *arguments, const char *start) {
  const program_result result = program_run(arguments);
  cr_expect_eq(result.status, 2, "'%s' ended with %d: %s", arguments, result.status, result.err);
  cr_expect(begins(result.err, start), "'%s' said: %s\nexpected: %s", arguments, result.err, start);
  cr_expect_str_eq(strchrnul(result.err, '\n'), "\n", "not one line: %s", result.err);
  cr_expect_str_empty(result.out, "'%s' printed: %s", arguments, result.out);
}

static program_result expect_good(const char *arguments) {
  const program_result result = program_run(arguments);
  cr_assert_eq(result.status, 0, "'%s' ended with %d: %s", arguments, result.status, result.err);
  cr_expect_str_empty(result.err, "'%s' said: %s", arguments, result.err);
  cr_expect(!strchr(result.out, '\033'), "escape codes in a file: %s", result.out);
  return result;
}

Test(program, reports) {
  const bool cpu = emulated();
  const program_result result = expect_good(cpu ? "" : "--samples 5");
  cr_expect(begins(result.out, "step       "), "%s", result.out);
  cr_expect(strstr(result.out, cpu ? "\nshape      batch 1, heads 2, seq 128, dim 64, fp16, scale "
                                     "0.125\ninputs     normal, seed 1\n"
                                   : "\nshape      batch 4, heads 8, seq 512, dim 64, fp16, scale "
                                     "0.125\ninputs     normal, seed 1\n"),
            "%s", result.out);
  cr_expect(strstr(result.out, "\ncheck      ok: largest error of O "), "%s", result.out);
  cr_expect(strstr(result.out, cpu ? "\ncounts     " : "\ntime       median "), "%s", result.out);
  cr_expect(!strstr(result.out, cpu ? "time" : "counts"), "%s", result.out);
  cr_expect_eq(temporary_folder_count(), 0, "a file that nobody asked for");
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
    const program_result result = expect_good(arguments);
    cr_expect(strstr(result.out, "\ncheck      ok: "), "'%s' gave: %s", arguments, result.out);
  }
}

// The text of column `number` of the CSV's second line.
static void csv_value(const char *csv, int number, char *value, size_t size) {
  const char *field = strchr(csv, '\n') + 1;
  for (; number > 0; number--) field = strchr(field, ',') + 1;
  snprintf(value, size, "%.*s", (int)strcspn(field, ",\n"), field);
}

Test(program, csv) {
  enum { CHECK = 13, SAMPLES = 18, MEDIAN = 19, TFLOPS = 24, BLOCKS = 26, THREADS = 27 };
  const bool cpu = emulated();
  const program_result result = expect_good(cpu ? "--csv --seq 40" : "--csv --seq 40 --samples 3");
  char value[64];
  cr_expect(begins(result.out, "step,device,dtype,batch,"), "%s", result.out);
  csv_value(result.out, CHECK, value, sizeof value);
  cr_expect_str_eq(value, "ok", "%s", result.out);
  csv_value(result.out, SAMPLES, value, sizeof value);
  cr_expect_str_eq(value, cpu ? "" : "3", "%s", result.out);
  const int measured[] = {MEDIAN, TFLOPS, BLOCKS, THREADS};
  for (int i = 0; i < 4; i++) {
    csv_value(result.out, measured[i], value, sizeof value);
    const bool there = (measured[i] >= BLOCKS) == cpu;
    cr_expect(there ? atof(value) > 0 : *value == '\0', "column %d is '%s'", measured[i], value);
  }
}

Test(program, help) {
  const program_result result = expect_good("--help");
  cr_expect(begins(result.out, "NAME\n  "), "%s", result.out);
  cr_expect(strstr(result.out, program_path), "the usage does not name the program");
}

Test(program, bad_input) {
  expect_refused("--seq 0", "error: --seq is 0: the smallest it can be is 1\n");
  expect_refused("--sead 1", "error: there is no option --sead: the nearest is --seed");
  expect_refused("--heads 8 --kv-heads 3", "error: heads is 8 and kv_heads is 3: ");
  expect_refused("--dim 100000", "error: step ");
  expect_refused("--batch 1073741824 --seq 1073741824 --dim 128", "error: 1073741824x");
  expect_refused("--q Q.npy --k K.npy --v V.npy",
                 "error: cannot open Q.npy: No such file or directory\n");
  expect_refused("--out none/O.npy", "error: cannot write none/O.npy: No such file or directory");
  expect_refused("--lse /dev/null", "error: cannot write /dev/null: ");
  if (emulated()) {
    expect_refused("--samples 3", "error: --samples says how to measure the time, which on the ");
  } else {
    expect_refused("--emu-seed 3", "error: --emu-seed sets the emulator's order of threads, ");
  }
  cr_expect_eq(temporary_folder_count(), 0, "a failed run left a file behind");
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

// ---- Tensors of the reader's --------------------------------------------------------------------

enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, SEQ_Q = 5, DIM = 24 };
enum { Q_COUNT = BATCH * HEADS * SEQ_Q * DIM, KV_COUNT = BATCH * KV_HEADS * DIM };

// With a single key the softmax is 1: every row of O is that head's row of V, bit for bit, and lse is
// the scaled score itself.
typedef struct {
  float q[BATCH][HEADS][SEQ_Q][DIM];
  float k[BATCH][KV_HEADS][1][DIM];
  float v[BATCH][KV_HEADS][1][DIM];
} one_key;

// Multiples of 1/8 from -4 to 4, which fp16 and bf16 hold exactly.
static void fill(float *values, int count, unsigned seed) {
  for (int i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)((int)(seed >> 16) % 65 - 32) / 8;
  }
}

static void write_tensor(const char *path, npy_dtype dtype, const size_t *size, const float *values,
                         int count) {
  uint16_t bits[Q_COUNT];
  for (int i = 0; i < count; i++) {
    bits[i] = dtype == NPY_FLOAT16 ? fp16_from_float(values[i]) : bf16_from_float(values[i]);
  }
  error_text error;
  const void *data = dtype == NPY_FLOAT32 ? (const void *)values : bits;
  cr_assert(npy_write(path, dtype, 4, size, data, &error), "%s", error.text);
}

static void write_one_key(one_key *problem, npy_dtype dtype) {
  const size_t q_size[4] = {BATCH, HEADS, SEQ_Q, DIM};
  const size_t kv_size[4] = {BATCH, KV_HEADS, 1, DIM};
  fill(&problem->q[0][0][0][0], Q_COUNT, 1);
  fill(&problem->k[0][0][0][0], KV_COUNT, 2);
  fill(&problem->v[0][0][0][0], KV_COUNT, 3);
  write_tensor("Q.npy", dtype, q_size, &problem->q[0][0][0][0], Q_COUNT);
  write_tensor("K.npy", dtype, kv_size, &problem->k[0][0][0][0], KV_COUNT);
  write_tensor("V.npy", dtype, kv_size, &problem->v[0][0][0][0], KV_COUNT);
}

static float value_at(const npy_array *array, size_t i) {
  if (array->dtype == NPY_FLOAT32) return ((const float *)array->data)[i];
  const uint16_t bits = ((const uint16_t *)array->data)[i];
  return array->dtype == NPY_FLOAT16 ? fp16_to_float(bits) : bf16_to_float(bits);
}

static void expect_one_key_answer(const one_key *problem, double scale, npy_dtype o_dtype) {
  const size_t o_size[4] = {BATCH, HEADS, SEQ_Q, DIM};
  npy_array o;
  npy_array lse;
  error_text error;
  cr_assert(npy_read("O.npy", &o, &error) && npy_read("L.npy", &lse, &error), "%s", error.text);
  cr_assert(o.dtype == o_dtype && o.rank == 4 && lse.dtype == NPY_FLOAT32 && lse.rank == 3);
  cr_assert_arr_eq(o.shape, o_size, sizeof o_size);
  cr_assert_arr_eq(lse.shape, o_size, 3 * sizeof o_size[0]);
  for (int row = 0; row < BATCH * HEADS * SEQ_Q; row++) {
    const int batch = row / SEQ_Q / HEADS;
    const int head = row / SEQ_Q % HEADS;
    const int kv_head = head / (HEADS / KV_HEADS);
    double score = 0;
    for (int d = 0; d < DIM; d++) {
      score += (double)problem->q[batch][head][row % SEQ_Q][d] * problem->k[batch][kv_head][0][d];
      cr_expect_float_eq(value_at(&o, (size_t)(row * DIM + d)), problem->v[batch][kv_head][0][d], 0,
                         "row %d, column %d", row, d);
    }
    cr_expect_float_eq(value_at(&lse, (size_t)row), scale * score, 1e-3, "lse of row %d", row);
  }
  npy_free(&o);
  npy_free(&lse);
}

Test(program, own_tensors) {
  const struct {
    npy_dtype in;
    const char *arguments;
    npy_dtype out;
  } cases[] = {
      {NPY_FLOAT16, "", NPY_FLOAT16},
      {NPY_FLOAT16, " --out-dtype float32 --seq-q 5 --seq-kv 1 --dim 24", NPY_FLOAT32},
      {NPY_FLOAT32, "", NPY_FLOAT16},
      {NPY_FLOAT32, " --dtype bf16", NPY_UINT16},
      {NPY_UINT16, " --dtype bf16 --kv-heads 2", NPY_UINT16},
      {NPY_UINT16, " --dtype bf16 --out-dtype float32", NPY_FLOAT32},
      {NPY_FLOAT16, " --no-check", NPY_FLOAT16},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static one_key problem;
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "--q Q.npy --k K.npy --v V.npy --scale 0.5 --no-time --out O.npy --lse=L.npy%s",
             cases[i].arguments);
    write_one_key(&problem, cases[i].in);
    const program_result result = expect_good(arguments);
    cr_expect(strstr(result.out, "\ninputs     Q.npy, K.npy, V.npy\n"), "%s", result.out);
    cr_expect(strstr(result.out, strstr(arguments, "--no-check") ? "\ncheck      skipped\n"
                                                                 : "\ncheck      ok: "),
              "%s", result.out);
    expect_one_key_answer(&problem, 0.5, cases[i].out);
    cr_expect_eq(temporary_folder_count(), 5, "more files than Q, K, V, O and L");
  }
}

Test(program, own_tensors_that_do_not_fit) {
  static one_key problem;
  write_one_key(&problem, NPY_FLOAT32);
  expect_refused("--q Q.npy --k K.npy --v V.npy --seq 5",
                 "error: --seq 5 contradicts K.npy, which is 2x2x1x24: leave --seq out\n");
  const size_t size[4] = {BATCH, KV_HEADS, 1, DIM / 2};
  write_tensor("V.npy", NPY_FLOAT32, size, &problem.v[0][0][0][0], KV_COUNT / 2);
  expect_refused("--q Q.npy --k K.npy --v V.npy --out O.npy",
                 "error: V is 2x2x1x12 but K is 2x2x1x24: head_dim differs (12, 24)\n");
  cr_expect_eq(temporary_folder_count(), 3, "a refused run left a file behind");
}

static void read_bytes(const char *path, char *bytes, size_t size) {
  memset(bytes, 0, size);
  FILE *file = fopen(path, "r");
  cr_assert(file && fread(bytes, 1, size, file) > 1000, "%s is not there or short", path);
  fclose(file);
}

Test(program, seeds) {
  static char one[8192], again[8192], other[8192];
  expect_good("--batch 1 --heads 2 --seq 16 --no-time --out a.npy");
  expect_good("--batch 1 --heads 2 --seq 16 --no-time --out b.npy --seed 1");
  expect_good("--batch 1 --heads 2 --seq 16 --no-time --out c.npy --seed 2");
  read_bytes("a.npy", one, sizeof one);
  read_bytes("b.npy", again, sizeof again);
  read_bytes("c.npy", other, sizeof other);
  cr_expect_eq(memcmp(one, again, sizeof one), 0, "the same seed gave another result");
  cr_expect_neq(memcmp(one, other, sizeof one), 0, "another seed gave the same result");
  if (!emulated()) return;
  expect_good("--batch 1 --heads 2 --seq 16 --out d.npy --emu-seed 7");
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
      {"lse", 1, "error: lse is wrong at batch 0, head 1, row 39, "},
      {"outside", 1, "error: something was written outside O: "},
      {"input", 1, "error: the step changed its input K\n"},
      {"launch", 2, "error: launching the step failed: "},
      {"unsupported", 2, "error: step 00_sabotaged cannot take 1x2x40x8 fp16: it takes nothing\n"},
      {"workspace", 2, "error: the workspace needs "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("SABOTAGE", cases[i].kind, 1);
    const program_result result =
        program_run("--batch 1 --heads 2 --seq 40 --dim 8 --no-time --out O.npy --lse L.npy");
    const int status = cases[i].status;
    cr_expect_eq(result.status, status, "%s ended with %d", cases[i].kind, result.status);
    cr_expect(begins(result.err, cases[i].sentence), "%s said: %s", cases[i].kind, result.err);
    cr_expect_eq(temporary_folder_count(), status == 0 ? 2 : 0, "%s: files", cases[i].kind);
    cr_expect(status != 0 || !*result.err, "%s said: %s", cases[i].kind, result.err);
    cr_expect(status != 1 || strstr(result.out, "\ncheck      FAILED: "), "%s printed: %s",
              cases[i].kind, result.out);
    cr_expect(status != 1 || strstr(result.err, "\nnote: nothing was written to O.npy and L.npy, "
                                                "because the result is wrong\n"),
              "%s said: %s", cases[i].kind, result.err);
    cr_expect(status != 2 || !*result.out, "%s printed: %s", cases[i].kind, result.out);
    unlink("O.npy");
    unlink("L.npy");
  }
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
  // Unchecked, it is written: that is what --no-check is for.
  const program_result unchecked = program_run("--seq 8 --no-time --no-check --out O.npy");
  cr_expect_eq(unchecked.status, 0, "%s", unchecked.err);
  npy_array array;
  error_text error;
  cr_expect(npy_read("O.npy", &array, &error), "%s", error.text);
  npy_free(&array);
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
