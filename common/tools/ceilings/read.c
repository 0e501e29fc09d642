// Prepares the reading of a buffer that is twenty times the L2 cache, so that almost no data comes from the cache.
#include "ceilings/ceiling.h"

#include "timing/reading.h"
#include <stdlib.h>

bool read_prepare(ceiling_job *job, error_text *error) {
  const size_t least = 256u << 20;
  size_t bytes = 20 * job->device->l2_bytes;
  if (bytes < least) bytes = least;
  job->blocks = (unsigned)reading_blocks(bytes);
  bytes = (size_t)job->blocks * READING_BLOCK_BYTES;
  job->work = (double)bytes;
  job->output_bytes = job->blocks * sizeof(unsigned);
  return job_allocate(&job->inputs[0], bytes, error) &&
         job_allocate(&job->output, job->output_bytes, error) &&
         device_ok(copy_fill(job->inputs[0], bytes, NULL), "filling a buffer", error);
}

cudaError_t read_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return reading_launch(job->inputs[0], NULL, (size_t)job->blocks * READING_BLOCK_BYTES,
                        job->output, stream);
}

// The exclusive or of all blocks' results is that of all words that were to be read.
bool read_verify(const ceiling_job *job, error_text *error) {
  const size_t bytes = (size_t)job->blocks * READING_BLOCK_BYTES;
  uint32_t *mixed = job_download(job, error);
  uint32_t *source = malloc(bytes);
  bool good = mixed && (source || fail(error, "not enough memory on the host for a buffer")) &&
              device_ok(cudaMemcpy(source, job->inputs[0], bytes, cudaMemcpyDeviceToHost),
                        "copying a buffer back", error);
  uint32_t difference = 0;
  for (size_t i = 0; good && i < bytes / sizeof *source; i++) difference ^= source[i];
  for (size_t i = 0; good && i < job->blocks; i++) difference ^= mixed[i];
  if (good && difference != 0)
    good = fail(error, "the kernel that reads has not read all of its buffer");
  free(source);
  free(mixed);
  return good;
}
