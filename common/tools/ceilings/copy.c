// Prepares the copy. Its two buffers are twenty times the L2 cache, so that almost no data comes from the
// cache.
#include "ceilings/ceiling.h"

bool copy_prepare(ceiling_job *job, error_text *error) {
  const size_t least = 256u << 20;
  size_t bytes = 20 * job->device->l2_bytes;
  if (bytes < least) bytes = least;
  job->output_bytes = bytes / COPY_BLOCK_BYTES * COPY_BLOCK_BYTES;
  job->work = 2.0 * (double)job->output_bytes; // read and written
  return job_allocate(&job->inputs[0], job->output_bytes, error) &&
         job_allocate(&job->output, job->output_bytes, error) &&
         device_ok(copy_fill(job->inputs[0], job->output_bytes, NULL), "filling a buffer", error);
}

cudaError_t copy_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return copy_launch(job->inputs[0], job->output, job->output_bytes, stream);
}

bool copy_verify(const ceiling_job *job, error_text *error) {
  unsigned long long wrong = 0;
  void *count = NULL;
  const bool good = job_allocate(&count, sizeof wrong, error) &&
                    device_ok(copy_count_wrong(job->output, job->output_bytes, count, NULL),
                              "comparing a copy", error) &&
                    device_ok(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost),
                              "comparing a copy", error);
  cudaFree(count);
  if (!good) return false;
  return wrong == 0 || fail(error, "the copy differs from its source in %llu of %zu pieces", wrong,
                            job->output_bytes / 16);
}
