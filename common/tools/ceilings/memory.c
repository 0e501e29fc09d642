#include "ceilings/ceiling.h"

#include "inputs/inputs.h"
#include <stdlib.h>

bool job_allocate(void **memory, size_t bytes, error_text *error) {
  return device_ok(cudaMalloc(memory, bytes), "allocating device memory", error) &&
         device_ok(cudaMemset(*memory, 0, bytes), "clearing device memory", error);
}

bool job_upload(void **memory, const void *host, size_t bytes, error_text *error) {
  return device_ok(cudaMalloc(memory, bytes), "allocating device memory", error) &&
         device_ok(cudaMemcpy(*memory, host, bytes, cudaMemcpyHostToDevice), "copying operands",
                   error);
}

void job_random(attention_dtype dtype, uint16_t *bits, size_t count, uint64_t seed) {
  const attention_shape row = {.dtype = dtype,
                               .batch = 1,
                               .heads = 1,
                               .kv_heads = 1,
                               .seq_q = 1,
                               .seq_kv = 1,
                               .head_dim = (int)count};
  inputs_fill(&row, INPUTS_NORMAL, INPUTS_Q, seed, bits);
}

void *job_download(const ceiling_job *job, error_text *error) {
  void *host = malloc(job->output_bytes);
  if (!host) {
    fail(error, "not enough memory on the host for a kernel's output");
    return NULL;
  }
  if (device_ok(cudaMemcpy(host, job->output, job->output_bytes, cudaMemcpyDeviceToHost),
                "copying a kernel's output back", error)) {
    return host;
  }
  free(host);
  return NULL;
}

void job_free(ceiling_job *job) {
  cudaFree(job->inputs[0]);
  cudaFree(job->inputs[1]);
  cudaFree(job->output);
  *job = (ceiling_job){0};
}
