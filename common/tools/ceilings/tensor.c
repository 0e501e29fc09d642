// Prepares random operands for the products of the tensor cores, and computes the sums that they must have.
#include "ceilings/ceiling.h"

#include "reference/reference.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_OPERANDS = 256 * WGMMA_DEPTH }; // of A, and of B

typedef struct {
  uint16_t A[MOST_OPERANDS];
  uint16_t B[MOST_OPERANDS];
} tensor_operands;

static tensor_operands *make_operands(attention_dtype dtype, error_text *error) {
  tensor_operands *operands = malloc(sizeof *operands);
  if (!operands) {
    fail(error, "not enough memory for the operands");
    return NULL;
  }
  job_random(dtype, operands->A, MOST_OPERANDS, 1);
  job_random(dtype, operands->B, MOST_OPERANDS, 2);
  return operands;
}

static bool prepare(ceiling_job *job, error_text *error) {
  tensor_operands *operands = make_operands(job->dtype, error);
  const bool good = operands &&
                    job_upload(&job->inputs[0], operands->A, sizeof operands->A, error) &&
                    job_upload(&job->inputs[1], operands->B, sizeof operands->B, error) &&
                    job_allocate(&job->output, job->output_bytes, error);
  free(operands);
  return good;
}

// Computes the sum of `depth` products, of elements that lie a stride apart, and the sum of their magnitudes.
typedef struct {
  double value, magnitude;
} dot_product;

static dot_product dot(attention_dtype dtype, const uint16_t *a, size_t a_stride, const uint16_t *b,
                       size_t b_stride, size_t depth) {
  dot_product sum = {0, 0};
  for (size_t k = 0; k < depth; k++) {
    const double product = (double)reference_value(dtype, a[k * a_stride]) *
                           (double)reference_value(dtype, b[k * b_stride]);
    sum.value += product;
    sum.magnitude += fabs(product);
  }
  return sum;
}

// Compares D [copies][count] with `rounds` times the result of one product. The tensor cores truncate their
// sums a little at every step. A hundredth of the sum of magnitudes is far more than this error, and far less
// than the error of one operand in the wrong place.
static bool verify(const ceiling_job *job, const dot_product *expected, size_t count, double rounds,
                   error_text *error) {
  float *D = job_download(job, error);
  bool good = D != NULL;
  for (size_t i = 0; i < job->output_bytes / sizeof *D && good; i++) {
    const dot_product *one = &expected[i % count];
    if (fabs((double)D[i] - rounds * one->value) <= 0.01 * rounds * one->magnitude) continue;
    good = fail(error, "element %zu of copy %zu is %g, and should be %g", i % count, i / count,
                (double)D[i], rounds * one->value);
  }
  free(D);
  return good;
}

// --- mma.sync

enum { TILE = 16 * 8, MMA_OUTPUTS = MMA_TILES * MMA_TILES * TILE };

bool mma_prepare(ceiling_job *job, error_text *error) {
  const unsigned blocks_per_multiprocessor = 2;
  job->blocks = (unsigned)job->device->multiprocessors * blocks_per_multiprocessor;
  const double warps = (double)job->blocks * MMA_WARPS;
  job->output_bytes = (size_t)job->blocks * MMA_WARPS * MMA_OUTPUTS * sizeof(float);
  job->work = 2.0 * MMA_OUTPUTS * 16 * MMA_ROUNDS * warps;
  return prepare(job, error);
}

cudaError_t mma_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return mma_launch(job->dtype, job->inputs[0], job->inputs[1], job->output, job->blocks, stream);
}

bool mma_verify(const ceiling_job *job, error_text *error) {
  static dot_product expected[MMA_OUTPUTS];
  tensor_operands *operands = make_operands(job->dtype, error);
  if (!operands) return false;
  for (size_t n = 0; n < MMA_OUTPUTS; n++) {
    const size_t i = n / TILE / MMA_TILES;
    const size_t j = n / TILE % MMA_TILES;
    const uint16_t *row = &operands->A[(i * 16 + n % TILE / 8) * 16];
    const uint16_t *column = &operands->B[j * 16 * 8 + n % 8];
    expected[n] = dot(job->dtype, row, 1, column, 8, 16);
  }
  free(operands);
  return verify(job, expected, MMA_OUTPUTS, MMA_ROUNDS, error);
}

// --- wgmma

enum { WGMMA_OUTPUTS = WGMMA_GROUPS * 64 * 256 };

bool wgmma_prepare(ceiling_job *job, error_text *error) {
  job->blocks = (unsigned)job->device->multiprocessors;
  job->output_bytes = (size_t)job->blocks * WGMMA_OUTPUTS * sizeof(float);
  job->work = 2.0 * WGMMA_OUTPUTS * WGMMA_DEPTH * WGMMA_ROUNDS * job->blocks;
  return prepare(job, error);
}

cudaError_t wgmma_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return wgmma_launch(job->dtype, job->inputs[0], job->inputs[1], job->output, job->blocks, stream);
}

bool wgmma_verify(const ceiling_job *job, error_text *error) {
  static dot_product expected[WGMMA_OUTPUTS];
  tensor_operands *operands = make_operands(job->dtype, error);
  if (!operands) return false;
  for (size_t n = 0; n < WGMMA_OUTPUTS; n++) {
    const uint16_t *a = &operands->A[n / 256 * WGMMA_DEPTH];
    const uint16_t *b = &operands->B[n % 256 * WGMMA_DEPTH];
    expected[n] = dot(job->dtype, a, 1, b, 1, WGMMA_DEPTH);
  }
  free(operands);
  return verify(job, expected, WGMMA_OUTPUTS, WGMMA_ROUNDS, error);
}
