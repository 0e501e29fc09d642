// What launches measure_steps makes, seen through steps that only write down their arguments.
#include "device/device.h"
#include "driver/measure.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAUNCHES = 256 };

typedef struct {
  char step; // 'a' or 'b'
  attention_args arguments;
  bool inputs_right; // the set's Q, K and V are copies of the trial's
} launch_record;

static launch_record launches[MOST_LAUNCHES];
static size_t launch_count;
static trial tested; // whose inputs the launches are compared with

static bool same_bytes(const void *device, const guarded_buffer *original) {
  unsigned char *copy = malloc(2 * original->bytes);
  cudaMemcpy(copy, device, original->bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(copy + original->bytes, original->data, original->bytes, cudaMemcpyDeviceToHost);
  const bool same = memcmp(copy, copy + original->bytes, original->bytes) == 0;
  free(copy);
  return same;
}

static cudaError_t record(char step, const attention_args *arguments) {
  launches[launch_count++] = (launch_record){step, *arguments,
                                             same_bytes(arguments->q, &tested.device_q) &&
                                                 same_bytes(arguments->k, &tested.device_k) &&
                                                 same_bytes(arguments->v, &tested.device_v)};
  // Outputs that overlap inputs, or each other, would spoil the next launch that takes the set.
  cudaMemset(arguments->o, 0x55, tested.device_o.bytes);
  cudaMemset(arguments->lse, 0x66, tested.device_lse.bytes);
  cudaMemset(arguments->workspace, 0x77, step == 'a' ? 1000 : 5000);
  return cudaDeviceSynchronize();
}

static cudaError_t forward_a(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  return record('a', arguments);
}

static cudaError_t forward_b(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  return record('b', arguments);
}

static cudaError_t forward_fails(const attention_args *arguments, cudaStream_t stream) {
  (void)arguments;
  (void)stream;
  return cudaErrorInvalidValue;
}

static size_t workspace_a(const attention_shape *shape) { return shape ? 1000 : 0; }
static size_t workspace_b(const attention_shape *shape) { return shape ? 5000 : 0; }

static const attention_step steps[] = {
    {.name = "a", .forward = forward_a, .workspace_bytes = workspace_a},
    {.name = "b", .forward = forward_b, .workspace_bytes = workspace_b},
    {.name = "fails", .forward = forward_fails, .workspace_bytes = workspace_a},
};

// The bytes of no tensor are a multiple of 256: 2100 of Q and O, 1260 of K and V, 600 of lse.
static void create_trial(void) {
  const attention_shape shape = {ATTENTION_FP16, 1, 10, 5, 15, 18, 7, false, 1.0f};
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error) && trial_create(&tested, &shape, &error), "%s",
            error.text);
  uint16_t next = 1;
  for (size_t i = 0; i < shape_q_count(&shape); i++) tested.q[i] = next++;
  for (size_t i = 0; i < shape_kv_count(&shape); i++) tested.k[i] = next++;
  for (size_t i = 0; i < shape_kv_count(&shape); i++) tested.v[i] = next++;
  cr_assert(trial_upload(&tested, &error), "%s", error.text);
}

static void free_trial(void) { trial_free(&tested); }

TestSuite(measure, .init = create_trial, .fini = free_trial);

// As measure_steps counts them: each tensor rounded up to 256 bytes.
enum { SET_BYTES = 2304 + 1280 + 1280 + 2304 + 768 };

// Which launch before number `i` last took the same Q; `i` itself when none did.
static size_t previous_use(size_t i) {
  for (size_t j = i; j-- > 0;) {
    if (launches[j].arguments.q == launches[i].arguments.q) return j;
  }
  return i;
}

static size_t count_sets(void) {
  size_t sets = 0;
  for (size_t i = 0; i < launch_count; i++) sets += previous_use(i) == i;
  return sets;
}

Test(measure, takes_turns_and_rotates) {
  for (size_t sets = 1; sets <= 5; sets++) {
    for (size_t count = 1; count <= 2; count++) {
      const measure_plan plan = {.samples = 9, .warm_up = 2, .l2_bytes = sets * SET_BYTES / 2};
      double milliseconds[2 * 9];
      size_t taken[2] = {0, 0};
      error_text error;
      launch_count = 0;
      memset(milliseconds, 0xff, sizeof milliseconds); // NaN
      cr_assert(measure_steps(&tested, steps, count, &plan, milliseconds, taken, &error), "%s",
                error.text);
      cr_assert_eq(launch_count, 11 * count);
      cr_expect(taken[0] == 9 && taken[1] == (count == 2 ? 9 : 0));
      cr_expect_eq(count_sets(), sets, "%zu sets, and should be %zu", count_sets(), sets);
      for (size_t i = 0; i < launch_count; i++) {
        const launch_record *launch = &launches[i];
        const size_t previous = previous_use(i);
        cr_expect_eq(launch->step, count == 2 && i % 2 ? 'b' : 'a', "launch %zu", i);
        cr_expect(launch->inputs_right, "launch %zu has other inputs", i);
        cr_expect(previous == i ? i < sets : i - previous == sets,
                  "launch %zu takes the tensors of launch %zu, with %zu sets", i, previous, sets);
        cr_expect_eq(launch->arguments.workspace, tested.workspace.data, "launch %zu", i);
        cr_expect_str_eq(shape_describe(&launch->arguments.shape).text,
                         "1x10x15x7 fp16, kv 1x5x18x7");
      }
      cr_expect_eq(tested.workspace.bytes, count == 2 ? 5000 : sets == 1 ? 1000 : 5000);
      for (size_t i = 0; i < count * 9; i++) {
        cr_expect(milliseconds[i] >= 0, "sample %zu is %g", i, milliseconds[i]);
      }
      cr_expect(count == 2 || isnan(milliseconds[9]), "one sample too many");
      cr_expect(guard_intact(&tested.workspace, &error), "%s", error.text);
      cr_expect(guard_intact(&tested.device_o, &error), "%s", error.text);
    }
  }
}

Test(measure, warm_cache_takes_the_trials_own_tensors) {
  const measure_plan plan = {.samples = 4, .warm_up = 0, .l2_bytes = 0};
  const attention_args own = trial_arguments(&tested);
  double milliseconds[4];
  size_t taken[2];
  error_text error;
  cr_assert(measure_steps(&tested, steps, 1, &plan, milliseconds, taken, &error), "%s", error.text);
  cr_assert_eq(launch_count, 4);
  for (size_t i = 0; i < 4; i++) {
    const attention_args *arguments = &launches[i].arguments;
    cr_expect(arguments->q == own.q && arguments->k == own.k && arguments->v == own.v &&
                  arguments->o == own.o && arguments->lse == own.lse,
              "launch %zu", i);
  }
}

Test(measure, frees_what_it_took) {
  const measure_plan plan = {.samples = 2, .warm_up = 1, .l2_bytes = 100 * SET_BYTES};
  double milliseconds[2];
  size_t taken[2];
  error_text error;
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  cr_assert(measure_steps(&tested, steps, 1, &plan, milliseconds, taken, &error), "%s", error.text);
  cudaMemGetInfo(&before, &total);
  for (int i = 0; i < 3; i++) {
    cr_assert(measure_steps(&tested, steps, 1, &plan, milliseconds, taken, &error), "%s",
              error.text);
  }
  cudaMemGetInfo(&after, &total);
  // On a GPU other programs take and free memory meanwhile; what is lost there is lost here as well.
  device_info device;
  cr_assert(device_open(&device, &error), "%s", error.text);
  if (!device.emulated) return;
  cr_expect_eq(before, after, "%zu bytes were free, and now %zu", before, after);
}

Test(measure, failures) {
  const measure_plan plan = {.samples = 2, .warm_up = 0, .l2_bytes = SET_BYTES};
  double milliseconds[2];
  size_t taken[2];
  error_text error;
  cr_expect(!measure_steps(&tested, &steps[2], 1, &plan, milliseconds, taken, &error));
  cr_expect_str_eq(error.text, "fails failed: invalid argument (cudaErrorInvalidValue)", "%s",
                   error.text);
}
