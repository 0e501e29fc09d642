// Runs a step's program on the reader's own tensors. LAB_PROGRAM names it, such as build/cpu/step04.
#define _GNU_SOURCE
#include "npy/npy.h"
#include "numeric/float16.h"
#include "program.h"
#include <sys/stat.h>

static void find_program(void) { program_find("LAB_PROGRAM"); }

TestSuite(own_tensors, .init = find_program, .fini = temporary_folder_leave);

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

Test(own_tensors, one_key) {
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
    const program_result result = program_expect_good(arguments);
    cr_expect(strstr(result.out, "\ninputs     Q.npy, K.npy, V.npy\n"), "%s", result.out);
    cr_expect(strstr(result.out, strstr(arguments, "--no-check") ? "\ncheck      skipped\n"
                                                                 : "\ncheck      ok: "),
              "%s", result.out);
    expect_one_key_answer(&problem, 0.5, cases[i].out);
    cr_expect_eq(temporary_folder_count(), 5, "more files than Q, K, V, O and L");
  }
}

// An output must not replace an input or the other output, under any name for the same file.
Test(own_tensors, are_not_written_over) {
  static one_key problem;
  write_one_key(&problem, NPY_FLOAT16);
  cr_assert(symlink("Q.npy", "soft.npy") == 0 && link("Q.npy", "hard.npy") == 0);
  cr_assert(mkdir("folder", 0700) == 0 && symlink(".", "here") == 0);
  const char *const cases[][2] = {
      {"--q Q.npy --out ./Q.npy", "error: --out and --q name the same file ./Q.npy: give another"},
      {"--q ./Q.npy --lse=Q.npy", "error: --lse and --q name the same file Q.npy: give another"},
      {"--q Q.npy --out hard.npy",
       "error: --out and --q name the same file hard.npy: give another"},
      {"--q soft.npy --out Q.npy", "error: --out and --q name the same file Q.npy: give another"},
      {"--q Q.npy --out folder/../K.npy",
       "error: --out and --k name the same file folder/../K.npy: give another"},
      {"--q Q.npy --out o.npy --lse ./o.npy",
       "error: --out and --lse name the same file o.npy: give another"},
      {"--q Q.npy --out here/o.npy --lse o.npy",
       "error: --out and --lse name the same file here/o.npy: give another"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "--k K.npy --v V.npy --no-time %s", cases[i][0]);
    program_expect_refused(arguments, cases[i][1]);
  }
  cr_expect_eq(temporary_folder_count(), 7, "a refused run left a file behind");
  program_expect_good("--q Q.npy --k K.npy --v V.npy --no-time --out o.npy --lse folder/o.npy");
  cr_assert(unlink("folder/o.npy") == 0);
}

// Two keys whose scores, 2^28 and 2^28 + 3, are one number in float32: O is neither right nor wrong.
Test(own_tensors, whose_scores_float32_cannot_tell_apart) {
  const size_t q_size[4] = {1, 1, 1, DIM}, kv_size[4] = {1, 1, 2, DIM};
  float q[DIM] = {16384, 1}, k[2][DIM] = {{16384, 0}, {16384, 3}}, v[2][DIM];
  for (int d = 0; d < DIM; d++) {
    v[0][d] = 1;
    v[1][d] = -1;
  }
  write_tensor("Q.npy", NPY_FLOAT16, q_size, q, DIM);
  write_tensor("K.npy", NPY_FLOAT16, kv_size, &k[0][0], 2 * DIM);
  write_tensor("V.npy", NPY_FLOAT16, kv_size, &v[0][0], 2 * DIM);
  const char *arguments = "--q Q.npy --k K.npy --v V.npy --scale 1 --no-time --out O.npy";
  program_result result = program_run(arguments);
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(strstr(result.out, "\ncheck      ill-conditioned: largest error of O "), "%s",
            result.out);
  cr_expect(strstr(result.err,
                   "note: the input is ill-conditioned in 1 of 1 rows, such as batch 0, "
                   "head 0, row 0: keys tie"),
            "%s", result.err);
  cr_expect_eq(temporary_folder_count(), 4, "O is to be written");
  char csv[128];
  snprintf(csv, sizeof csv, "%s --csv", arguments);
  result = program_run(csv);
  cr_expect(strstr(result.out, ",ill-conditioned,"), "%s", result.out);
}

Test(own_tensors, that_do_not_fit) {
  static one_key problem;
  write_one_key(&problem, NPY_FLOAT32);
  program_expect_refused("--q Q.npy --k K.npy --v V.npy --seq 5",
                         "error: --seq 5 contradicts K.npy, which is 2x2x1x24: leave --seq out\n");
  const size_t size[4] = {BATCH, KV_HEADS, 1, DIM / 2};
  write_tensor("V.npy", NPY_FLOAT32, size, &problem.v[0][0][0][0], KV_COUNT / 2);
  program_expect_refused("--q Q.npy --k K.npy --v V.npy --out O.npy",
                         "error: V is 2x2x1x12 but K is 2x2x1x24: head_dim differs (12, 24)\n");
  cr_expect_eq(temporary_folder_count(), 3, "a refused run left a file behind");
}
