// The work that the values of ceilings are computed from, and whether the host finds a kernel that has not done it. No
// emulator has the kernels for the arithmetic, so the host stands in for them here: it does the same for a few threads.
#include "ceilings/ceiling.h"

#include "numeric/float16.h"
#include "timing/reading.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const device_info device = {.multiprocessors = 1, .l2_bytes = 1 << 20};
static ceiling_job job;
static error_text error;

static void begin(void) { job = (ceiling_job){.device = &device, .dtype = ATTENTION_FP16}; }
static void end(void) { job_free(&job); }

TestSuite(work, .init = begin, .fini = end);

// Returns a copy of floats in device memory; the caller frees it.
static float *download(const void *memory, size_t count) {
  float *host = malloc(count * sizeof *host);
  cr_assert(host &&
            cudaMemcpy(host, memory, count * sizeof *host, cudaMemcpyDeviceToHost) == cudaSuccess);
  return host;
}

static void upload(void *memory, const void *host, size_t bytes) {
  cr_assert_eq(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice), cudaSuccess);
}

// Puts another number into the output, expects that the host finds it, and puts back what was there.
static void expect_found(bool (*verify)(const ceiling_job *, error_text *), size_t place,
                         float other) {
  float before = 0;
  float *at = (float *)job.output + place;
  cr_assert_eq(cudaMemcpy(&before, at, sizeof before, cudaMemcpyDeviceToHost), cudaSuccess);
  upload(at, &other, sizeof other);
  cr_expect_not(verify(&job, &error), "%.9g in the place of %.9g", (double)other, (double)before);
  upload(at, &before, sizeof before);
}

enum { FOLLOWED = 61 }; // threads whose chains the host computes, from the first to the last

// Each chain is x = x * a + b, so many times.
cudaError_t fma_launch(const float *factors, const float *start, float *out, unsigned blocks,
                       cudaStream_t stream) {
  (void)stream;
  const size_t threads = (size_t)blocks * ARITHMETIC_THREADS;
  float *factor = download(factors, 2 * threads), *x = download(start, CHAINS * threads);
  for (size_t n = 0; n < FOLLOWED; n++) {
    const size_t thread = n * (threads - 1) / (FOLLOWED - 1);
    for (size_t chain = 0; chain < CHAINS; chain++) {
      float *own = &x[chain * threads + thread];
      for (int round = 0; round < FMA_ROUNDS; round++)
        *own = fmaf(*own, factor[thread], factor[threads + thread]);
    }
  }
  upload(out, x, CHAINS * threads * sizeof *x);
  free(factor);
  free(x);
  return cudaSuccess;
}

// A multiply-add is two operations.
Test(work, of_multiply_adds) {
  const size_t threads = 2048;
  cr_assert(fma_prepare(&job, &error), "%s", error.text);
  cr_expect_eq(job.work, 2.0 * FMA_ROUNDS * CHAINS * (double)threads);
  cr_expect_not(fma_verify(&job, &error), "nothing was launched");
  cr_assert_eq(fma_run(&job, 0, NULL), cudaSuccess);
  cr_expect(fma_verify(&job, &error), "%s", error.text);
  float *out = download(job.output, CHAINS * threads);
  const size_t last = CHAINS * threads - 1;
  expect_found(fma_verify, 0, nextafterf(out[0], INFINITY));
  expect_found(fma_verify, last, nextafterf(out[last], INFINITY));
  free(out);
}

// All chains end at the x that is its own 2^-x.
cudaError_t exp2_launch(const float *start, float *out, unsigned blocks, cudaStream_t stream) {
  (void)stream;
  const size_t count = (size_t)blocks * ARITHMETIC_THREADS * CHAINS;
  float *x = download(start, count);
  for (size_t i = 0; i < count; i++)
    for (int round = 0; round < 100; round++) x[i] = exp2f(-x[i]);
  upload(out, x, count * sizeof *x);
  free(x);
  return cudaSuccess;
}

Test(work, of_exp2) {
  const size_t threads = 2048;
  cr_assert(exp2_prepare(&job, &error), "%s", error.text);
  cr_expect_eq(job.work, (double)EXP2_ROUNDS * CHAINS * (double)threads);
  cr_expect_not(exp2_verify(&job, &error), "nothing was launched");
  cr_assert_eq(exp2_run(&job, 0, NULL), cudaSuccess);
  cr_expect(exp2_verify(&job, &error), "%s", error.text);
  expect_found(exp2_verify, 0, 0.641184f);
  expect_found(exp2_verify, CHAINS * threads - 1, 0.641188f);
}

// D of each copy is `rounds` times A B^T or A B, of rows of `depth` elements of A. `column` and `stride` say where a column of
// B lies.
static void multiply(float *D, const uint16_t *A, size_t row, const uint16_t *B, size_t column,
                     size_t stride, size_t depth, double rounds) {
  double sum = 0;
  for (size_t k = 0; k < depth; k++)
    sum += (double)fp16_to_float(A[row + k]) * (double)fp16_to_float(B[column + k * stride]);
  *D = (float)(rounds * sum);
}

static uint16_t *operand(const void *memory, size_t count) {
  uint16_t *host = malloc(count * sizeof *host);
  cr_assert(host &&
            cudaMemcpy(host, memory, count * sizeof *host, cudaMemcpyDeviceToHost) == cudaSuccess);
  return host;
}

enum { OPERANDS = 256 * WGMMA_DEPTH };

// Each warp has 4 x 4 tiles of 16 x 8 sums, of 16 products each.
cudaError_t mma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                       unsigned blocks, cudaStream_t stream) {
  (void)stream;
  enum { TILE = 16 * 8, OUTPUTS = 16 * TILE };
  static float sums[OUTPUTS];
  uint16_t *a = operand(A, OPERANDS), *b = operand(B, OPERANDS);
  cr_expect_eq(dtype, ATTENTION_FP16);
  for (size_t n = 0; n < OUTPUTS; n++) {
    const size_t i = n / TILE / 4, j = n / TILE % 4, row = n % TILE / 8, column = n % 8;
    multiply(&sums[n], a, (16 * i + row) * 16, b, j * 16 * 8 + column, 8, 16, MMA_ROUNDS);
  }
  for (size_t copy = 0; copy < (size_t)blocks * MMA_WARPS; copy++)
    upload(D + copy * OUTPUTS, sums, sizeof sums);
  free(a);
  free(b);
  return cudaSuccess;
}

// Each warp group has 64 x 256 sums, of 64 products each; both operands have rows of 64 elements.
cudaError_t wgmma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                         unsigned blocks, cudaStream_t stream) {
  (void)stream, (void)dtype;
  enum { OUTPUTS = WGMMA_GROUPS * 64 * 256 };
  static float sums[OUTPUTS];
  uint16_t *a = operand(A, OPERANDS), *b = operand(B, OPERANDS);
  for (size_t n = 0; n < OUTPUTS; n++)
    multiply(&sums[n], a, n / 256 * WGMMA_DEPTH, b, n % 256 * WGMMA_DEPTH, 1, WGMMA_DEPTH,
             WGMMA_ROUNDS);
  for (size_t copy = 0; copy < blocks; copy++) upload(D + copy * OUTPUTS, sums, sizeof sums);
  free(a);
  free(b);
  return cudaSuccess;
}

// A product with its sum is two operations. The sums may be off by a hundredth of what they consist of, at most 16 or 64
// products whose size is about 0.6 each; an operand in the wrong place is off by far more.
Test(work, of_mma) {
  cr_assert(mma_prepare(&job, &error), "%s", error.text);
  cr_expect_eq(job.work, 2.0 * 16 * (16 * 16 * 8) * MMA_ROUNDS * 2 * MMA_WARPS);
  cr_expect_not(mma_verify(&job, &error), "nothing was launched");
  cr_assert_eq(mma_run(&job, 0, NULL), cudaSuccess);
  cr_expect(mma_verify(&job, &error), "%s", error.text);
  const size_t last = job.output_bytes / sizeof(float) - 1;
  float *out = download(job.output, last + 1);
  expect_found(mma_verify, 0, out[0] + 0.5f * MMA_ROUNDS);
  expect_found(mma_verify, last, out[last] - 0.5f * MMA_ROUNDS);
  expect_found(mma_verify, last, NAN);
  free(out);
}

Test(work, of_wgmma) {
  cr_assert(wgmma_prepare(&job, &error), "%s", error.text);
  cr_expect_eq(job.work, 2.0 * 64 * (2 * 64 * 256) * WGMMA_ROUNDS);
  cr_expect_not(wgmma_verify(&job, &error), "nothing was launched");
  cr_assert_eq(wgmma_run(&job, 0, NULL), cudaSuccess);
  cr_expect(wgmma_verify(&job, &error), "%s", error.text);
  const size_t last = job.output_bytes / sizeof(float) - 1;
  float *out = download(job.output, last + 1);
  expect_found(wgmma_verify, last, out[last] + 2.0f * WGMMA_ROUNDS);
  free(out);
}

// The buffers of the copy and of the reading are at least 256 MB, so they are not allocated here: for a cache that is too
// large, the work is known before that fails. A copy reads and writes each byte.
Test(work, of_the_bandwidths) {
  const device_info huge = {.multiprocessors = 1, .l2_bytes = (size_t)1 << 36};
  const double bytes = 20 * (double)huge.l2_bytes;
  job.device = &huge;
  cr_expect_not(copy_prepare(&job, &error));
  cr_expect(job.output_bytes <= bytes && job.output_bytes > bytes - COPY_BLOCK_BYTES);
  cr_expect_eq(job.work, 2 * (double)job.output_bytes);
  job_free(&job);
  job.device = &huge;
  cr_expect_not(read_prepare(&job, &error));
  cr_expect_eq(job.work, (double)job.blocks * READING_BLOCK_BYTES);
  cr_expect(job.work <= bytes && job.work > bytes - READING_BLOCK_BYTES);
}

enum { BLOCKS = 3 };

// A small copy, and one of its words that is wrong.
Test(work, of_a_copy_is_found_wrong) {
  job.output_bytes = BLOCKS * COPY_BLOCK_BYTES;
  cr_assert(job_allocate(&job.inputs[0], job.output_bytes, &error) &&
                job_allocate(&job.output, job.output_bytes, &error) &&
                copy_fill(job.inputs[0], job.output_bytes, NULL) == cudaSuccess,
            "%s", error.text);
  cr_expect_not(copy_verify(&job, &error), "nothing was launched");
  cr_assert_eq(copy_run(&job, 0, NULL), cudaSuccess);
  cr_expect(copy_verify(&job, &error), "%s", error.text);
  expect_found(copy_verify, job.output_bytes / sizeof(float) - 1, 1.0f);
  cr_expect(copy_verify(&job, &error), "%s", error.text);
}

// The exclusive or of a block's words changes with each bit of them.
Test(work, of_reading_is_found_wrong) {
  const size_t bytes = (size_t)BLOCKS * READING_BLOCK_BYTES;
  job.blocks = (unsigned)reading_blocks(bytes);
  job.output_bytes = job.blocks * sizeof(unsigned);
  cr_assert(job_allocate(&job.inputs[0], bytes, &error) &&
                job_allocate(&job.output, job.output_bytes, &error) &&
                copy_fill(job.inputs[0], bytes, NULL) == cudaSuccess,
            "%s", error.text);
  cr_expect_not(read_verify(&job, &error), "nothing was launched");
  cr_assert_eq(read_run(&job, 0, NULL), cudaSuccess);
  cr_expect(read_verify(&job, &error), "%s", error.text);
  for (size_t i = 0; i < BLOCKS; i++) expect_found(read_verify, i, 1.0f);
}
