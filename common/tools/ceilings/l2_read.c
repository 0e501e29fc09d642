// Prepares a window of a quarter of the L2 cache. NVIDIA's white paper of the A100 says that its L2 cache has two
// partitions, each of which caches what the multiprocessors directly connected to it read; those of H100 and H200
// have two as well. Here every block goes round the whole window, so the window may lie in both partitions, and fill
// half of each. The value is the bandwidth of bytes that all multiprocessors read, as K and V of a head may be. For
// bytes that only the multiprocessors of one partition read, it may be different.
//
// If other kernels have run in between, the window is no longer in the cache, and the first block that reads a chunk
// brings it from memory. On an H200 528 blocks go round the window a little more than once, so this is 0.2 % of the
// bytes.
#include "ceilings/ceiling.h"

#include <stdlib.h>

enum { BLOCKS_PER_MULTIPROCESSOR = 4 }; // of 256 threads, so that all run at once on any GPU

bool l2_read_prepare(ceiling_job *job, error_text *error) {
  const size_t chunks = job->device->l2_bytes / 4 / L2_CHUNK_BYTES;
  if (chunks == 0) return fail(error, "the L2 cache of this GPU is too small, or not known");
  job->blocks = (unsigned)job->device->multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  job->input_bytes = chunks * L2_CHUNK_BYTES;
  job->output_bytes = job->blocks * sizeof(uint32_t);
  job->work = (double)job->blocks * L2_ROUNDS * L2_CHUNK_BYTES;
  return job_allocate(&job->inputs[0], job->input_bytes, error) &&
         job_allocate(&job->output, job->output_bytes, error) &&
         device_ok(copy_fill(job->inputs[0], job->input_bytes, NULL), "filling a buffer", error);
}

cudaError_t l2_read_run(void *context, size_t rotation, cudaStream_t stream) {
  const ceiling_job *job = context;
  (void)rotation;
  return l2_read_launch(job->inputs[0], job->input_bytes, job->output, job->blocks, stream);
}

// Replaces the first word of each chunk by the sum of its words.
static void add_chunks(uint32_t *window, size_t chunks) {
  const size_t words = L2_CHUNK_BYTES / sizeof *window;
  for (size_t chunk = 0; chunk < chunks; chunk++) {
    for (size_t i = 1; i < words; i++) window[chunk * words] += window[chunk * words + i];
  }
}

// The sum of each block must be that of the chunks that it had to read, each as often as it had to.
bool l2_read_verify(const ceiling_job *job, error_text *error) {
  const size_t chunks = job->input_bytes / L2_CHUNK_BYTES;
  uint32_t *sums = job_download(job, error);
  uint32_t *window = malloc(job->input_bytes);
  bool good =
      sums && (window || fail(error, "not enough memory on the host for a buffer")) &&
      device_ok(cudaMemcpy(window, job->inputs[0], job->input_bytes, cudaMemcpyDeviceToHost),
                "copying a buffer back", error);
  if (good) add_chunks(window, chunks);
  for (size_t block = 0; good && block < job->blocks; block++) {
    uint32_t expected = 0;
    for (size_t round = 0; round < L2_ROUNDS; round++) {
      const size_t chunk = (block + round) % chunks;
      expected += window[chunk * (L2_CHUNK_BYTES / sizeof *window)];
    }
    if (sums[block] != expected)
      good = fail(error, "block %zu of %u has not read what it should", block, job->blocks);
  }
  free(window);
  free(sums);
  return good;
}
