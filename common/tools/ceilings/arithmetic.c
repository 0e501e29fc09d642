// The first values of the chains of float32 multiply-adds and of exp2, and the results that they must have.
#include "ceilings/ceiling.h"

#include "numeric/float16.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCKS_PER_MULTIPROCESSOR = 2048 / ARITHMETIC_THREADS }; // as many threads as fit

static size_t thread_count(const ceiling_job *job) {
  return (size_t)job->blocks * ARITHMETIC_THREADS;
}

// --- multiply-adds: x = a * x + b with a just above -1 swings about b / 2 and neither settles nor grows

// The operands of a chain of a thread: a, b, and the first x. The random numbers have 16 bits. A sum or a product with
// another number gives operands that use all 24 bits of the mantissa.
typedef struct {
  float a, b, x;
} fma_operands;

static fma_operands operands(const uint16_t *bits, size_t threads, size_t thread, size_t chain) {
  const float first = fp16_to_float(bits[thread]);
  const float second = fp16_to_float(bits[threads + thread]);
  const float start = fp16_to_float(bits[(2 + chain) * threads + thread]);
  return (fma_operands){-1.0f + 0x1p-16f * fabsf(first), second * 1.2345679f, start * 1.2345679f};
}

static uint16_t *random_bits(size_t count) {
  uint16_t *bits = malloc(count * sizeof *bits);
  if (bits) job_random(ATTENTION_FP16, bits, count, 1);
  return bits;
}

bool fma_prepare(ceiling_job *job, error_text *error) {
  job->blocks = (unsigned)job->device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  const size_t threads = thread_count(job);
  job->output_bytes = CHAINS * threads * sizeof(float);
  job->work = 2.0 * CHAINS * FMA_ROUNDS * (double)threads;
  uint16_t *bits = random_bits((2 + CHAINS) * threads);
  float *factors = malloc(2 * threads * sizeof *factors);
  float *start = malloc(job->output_bytes);
  bool good = (bits && factors && start) || fail(error, "not enough memory for the operands");
  for (size_t i = 0; i < CHAINS * threads && good; i++) {
    const fma_operands own = operands(bits, threads, i % threads, i / threads);
    factors[i % threads] = own.a;
    factors[threads + i % threads] = own.b;
    start[i] = own.x;
  }
  good = good && job_upload(&job->inputs[0], factors, 2 * threads * sizeof *factors, error) &&
         job_upload(&job->inputs[1], start, job->output_bytes, error) &&
         job_allocate(&job->output, job->output_bytes, error);
  free(bits);
  free(factors);
  free(start);
  return good;
}

cudaError_t fma_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return fma_launch(job->inputs[0], job->inputs[1], job->output, job->blocks, stream);
}

// IEEE 754 defines the result of a multiply-add exactly, so the host must find exactly the same numbers. It
// computes the chains of some threads only, taken from the first to the last block.
bool fma_verify(const ceiling_job *job, error_text *error) {
  enum { FOLLOWED = 61 };
  const size_t threads = thread_count(job);
  uint16_t *bits = random_bits((2 + CHAINS) * threads);
  float *out = job_download(job, error);
  bool good = out && (bits || fail(error, "not enough memory for the operands"));
  for (size_t n = 0; n < FOLLOWED && good; n++) {
    const size_t thread = n * (threads - 1) / (FOLLOWED - 1);
    for (size_t chain = 0; chain < CHAINS && good; chain++) {
      const fma_operands own = operands(bits, threads, thread, chain);
      float x = own.x;
      for (int round = 0; round < FMA_ROUNDS; round++) x = fmaf(x, own.a, own.b);
      const float got = out[chain * threads + thread];
      if (got != x) {
        good = fail(error, "chain %zu of thread %zu ended at %.9g, and should at %.9g", chain,
                    thread, (double)got, (double)x);
      }
    }
  }
  free(bits);
  free(out);
  return good;
}

// --- exp2: x = 2^-x ends, wherever it begins, at the x that is its own 2^-x

static const double fixed_point = 0.6411857445049859;

bool exp2_prepare(ceiling_job *job, error_text *error) {
  job->blocks = (unsigned)job->device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  const size_t count = CHAINS * thread_count(job);
  job->output_bytes = count * sizeof(float);
  job->work = (double)EXP2_ROUNDS * (double)count;
  uint16_t *bits = random_bits(count);
  float *start = malloc(job->output_bytes);
  bool good = (bits && start) || fail(error, "not enough memory for the operands");
  for (size_t i = 0; i < count && good; i++) start[i] = fp16_to_float(bits[i]);
  good = good && job_upload(&job->inputs[0], start, job->output_bytes, error) &&
         job_allocate(&job->output, job->output_bytes, error);
  free(bits);
  free(start);
  return good;
}

cudaError_t exp2_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return exp2_launch(job->inputs[0], job->output, job->blocks, stream);
}

bool exp2_verify(const ceiling_job *job, error_text *error) {
  const size_t count = CHAINS * thread_count(job);
  const double tolerance = 1e-6; // the instruction is off by at most 2^-22
  float *out = job_download(job, error);
  bool good = out != NULL;
  for (size_t i = 0; i < count && good; i++) {
    if (fabs((double)out[i] - fixed_point) <= tolerance) continue;
    good = fail(error, "chain %zu of 2^-x ended at %.9g, and should at %.9g", i, (double)out[i],
                fixed_point);
  }
  free(out);
  return good;
}
