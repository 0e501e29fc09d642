// Tests which shape the ladder chooses on which GPU.
#define _GNU_SOURCE
#include "ladder/problem.h"
#include "ladder/session.h"

#include "shape/shape.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const attention_shape nothing = {.head_dim = 64};

static device_info gpu_of(int multiprocessors, double gigabytes) {
  return (device_info){.multiprocessors = multiprocessors,
                       .memory_bytes = (size_t)(gigabytes * (1 << 30))};
}

static void expect_chosen(const attention_shape *given, const device_info *device, int batch,
                          int heads, int seq) {
  const ladder_problem problem = ladder_choose(given, device);
  const attention_shape *shape = &problem.shape;
  cr_expect(shape->batch == batch && shape->heads == heads && shape->seq_q == seq &&
                shape->seq_kv == seq,
            "%d multiprocessors, %zu bytes: %dx%dx%d and not %dx%dx%d", device->multiprocessors,
            device->memory_bytes, shape->batch, shape->heads, shape->seq_q, batch, heads, seq);
  cr_expect_eq(problem.smaller, batch < (given->batch ? given->batch : 4) ||
                                    heads < (given->heads ? given->heads : 32) || seq < 4096);
}

// The score matrix of 4 x 32 x 4096 x 4096 is 8.6 GB, which fits none of the small ones.
Test(ladder_problem, fits_the_gpu) {
  static const struct {
    const char *name;
    int multiprocessors;
    double gigabytes; // of 2^30 bytes
    int batch, heads, seq;
  } gpus[] = {
      {"H200", 132, 140, 4, 32, 4096},      {"A100", 108, 40, 4, 32, 4096},
      {"RTX 4090", 128, 24, 4, 32, 4096},   {"L4", 58, 22.5, 2, 32, 4096},
      {"T4", 40, 15, 1, 32, 4096},          {"RTX 3070", 46, 8, 1, 32, 4096},
      {"a fast one", 132, 8, 2, 32, 4096},  {"a faster one", 200, 4, 1, 32, 4096},
      {"GTX 1650", 14, 4, 1, 32, 2048},     {"two GB", 20, 2, 1, 32, 2048},
      {"one processor", 1, 1, 1, 32, 512},  {"no memory", 1000, 0.001, 1, 2, 256},
      {"next to none", 1, 1e-9, 1, 1, 256},
  };
  for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
    const device_info device = gpu_of(gpus[i].multiprocessors, gpus[i].gigabytes);
    expect_chosen(&nothing, &device, gpus[i].batch, gpus[i].heads, gpus[i].seq);
    const ladder_problem problem = ladder_choose(&nothing, &device);
    if (gpus[i].gigabytes < 1) continue;
    cr_expect(problem.seconds <= 1 && problem.bytes < 0.75 * (double)device.memory_bytes,
              "%s: %g s, %g bytes", gpus[i].name, problem.seconds, problem.bytes);
    // and not far smaller than it could be
    cr_expect(problem.seconds > 0.2 || problem.bytes > 0.15 * (double)device.memory_bytes,
              "%s: %g s, %g bytes", gpus[i].name, problem.seconds, problem.bytes);
  }
}

// The test runs on the emulator, which reports what the real GPU would report.
Test(ladder_problem, fits_the_emulated_gpus) {
  static const struct {
    const char *key;
    int batch;
  } gpus[] = {{"h200", 4}, {"a100", 4}, {"l4", 2}, {"t4", 1}};
  for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
    device_info device;
    error_text error;
    setenv("EMU_GPU", gpus[i].key, 1);
    cr_assert(device_open(&device, &error), "%s", error.text);
    if (!device.emulated) cr_skip_test("this is a GPU, and no emulator");
    expect_chosen(&nothing, &device, gpus[i].batch, 32, 4096);
  }
}

Test(ladder_problem, keeps_what_is_given) {
  const device_info small = gpu_of(14, 4);
  attention_shape given = {.batch = 3, .head_dim = 64};
  expect_chosen(&given, &small, 3, 32, 1024);
  given = (attention_shape){.heads = 5, .head_dim = 64};
  expect_chosen(&given, &small, 2, 5, 4096);
  given = (attention_shape){.seq_q = 8192, .seq_kv = 8192, .head_dim = 64};
  expect_chosen(&given, &small, 1, 4, 8192);
  given = (attention_shape){.seq_q = 8192, .seq_kv = 8192, .kv_heads = 16, .head_dim = 64};
  expect_chosen(&given, &small, 1, 32, 8192); // the heads are a multiple of 16
  given = (attention_shape){.batch = 4, .heads = 32, .seq_q = 4096, .seq_kv = 4096, .head_dim = 64};
  cr_expect(!ladder_choose(&given, &small).smaller);
  // K and V have rows of their own heads alone.
  const device_info tiny = gpu_of(1000, 0.125);
  given = (attention_shape){
      .heads = 64, .kv_heads = 1, .seq_q = 64, .seq_kv = 4096, .batch = 1, .head_dim = 64};
  cr_expect_float_eq(ladder_choose(&given, &tiny).bytes,
                     4.0 * 64 * 64 * 4096 + 4.0 * (64 * 64 + 4096) * 64 + 4 * 64 * 64, 1);
  given = (attention_shape){.seq_kv = 100, .head_dim = 64};
  const ladder_problem problem = ladder_choose(&given, &small);
  cr_expect_eq(problem.shape.seq_kv, 100);
  cr_expect_eq(problem.shape.seq_q, 4096);
}

// The published table of head_dim 128, and a head_dim that is not given, which is 64.
Test(ladder_problem, counts_the_head_dim) {
  const device_info h200 = gpu_of(132, 140), l4 = gpu_of(58, 22.5);
  attention_shape given = {.heads = 16, .head_dim = 128};
  expect_chosen(&given, &h200, 4, 16, 4096);
  given = (attention_shape){.head_dim = 0};
  expect_chosen(&given, &l4, 2, 32, 4096);
  given = (attention_shape){.head_dim = 128};
  expect_chosen(&given, &l4, 1, 32, 4096);
}

// The branches of the ladder say which step they come after; the others come after the number before.
Test(problem, which_step_comes_before) {
  char parent[64];
  step_read_parent("18_split_kv", parent);
  cr_expect_str_eq(parent, "09_tile_order");
  step_read_parent("09_tile_order", parent);
  cr_expect_str_eq(parent, "");
  step_read_parent("99_no_such_step", parent);
  cr_expect_str_eq(parent, "");
}

// Whatever stands above it in the table. Where the table lacks that step, there is nothing to compare with.
Test(problem, a_branch_is_compared_with_its_own_step) {
  static const attention_step steps[] = {
      {.name = "09_tile_order"}, {.name = "17_lazy_max"}, {.name = "18_split_kv"}};
  ladder_row rows[3] = {{.step = &steps[0]}, {.step = &steps[1]}, {.step = &steps[2]}};
  ladder_session session = {.count = 3, .rows = rows};
  cr_expect_eq(ladder_row_before(&session, &rows[2], &rows[1]), &rows[0]);
  cr_expect_eq(ladder_row_before(&session, &rows[1], &rows[0]), &rows[0]);
  cr_expect_null(ladder_row_before(&session, &rows[0], NULL));
  session.rows = rows + 1;
  session.count = 2;
  cr_expect_null(ladder_row_before(&session, &rows[2], &rows[1]));
}
