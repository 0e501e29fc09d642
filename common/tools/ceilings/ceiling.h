// One limit of the GPU, and the kernel that reaches it.
#ifndef CEILING_H
#define CEILING_H

#include "ceilings/kernels.h"
#include "ceilings/report.h"
#include "device/device.h"
#include "timing/timing.h"

// A job holds a kernel's device memory, and the work of one launch.
typedef struct {
  const device_info *device;
  attention_dtype dtype; // of the tensor cores' operands
  void *inputs[2];       // NULL where there is none
  void *output;
  size_t input_bytes; // of inputs[0], where its size depends on the GPU and `verify` needs it
  size_t output_bytes;
  unsigned blocks;
  double work; // of a launch: bytes, operations, or loads of a chain
} ceiling_job;

typedef struct {
  const char *name; // as in ceilings.csv
  const char *unit;
  double unit_size; // bytes or operations a second in one unit, or seconds
  ceiling_kind kind;
  int only_capability;   // the one compute capability that has the instruction; 0 for all
  attention_dtype dtype; // where the kernel has operands in 16 bits
  // Allocates and fills the job's memory. Returns false with a sentence on failure. The caller frees the
  // memory in any case.
  bool (*prepare)(ceiling_job *job, error_text *error);
  cudaError_t (*launch)(void *job, size_t rotation, cudaStream_t stream);
  // Tells whether the last launch has done all its work, from the numbers in `output`.
  bool (*verify)(const ceiling_job *job, error_text *error);
} ceiling;

extern const ceiling ceilings[];
extern const size_t ceiling_count;

// The functions of the table, from copy.c, read.c, l2_read.c, latency.c, arithmetic.c and tensor.c.
bool copy_prepare(ceiling_job *job, error_text *error);
cudaError_t copy_run(void *job, size_t rotation, cudaStream_t stream);
bool copy_verify(const ceiling_job *job, error_text *error);

bool read_prepare(ceiling_job *job, error_text *error);
cudaError_t read_run(void *job, size_t rotation, cudaStream_t stream);
bool read_verify(const ceiling_job *job, error_text *error);

bool l2_read_prepare(ceiling_job *job, error_text *error);
cudaError_t l2_read_run(void *job, size_t rotation, cudaStream_t stream);
bool l2_read_verify(const ceiling_job *job, error_text *error);

bool l2_latency_prepare(ceiling_job *job, error_text *error);
cudaError_t l2_latency_run(void *job, size_t rotation, cudaStream_t stream);

bool memory_latency_prepare(ceiling_job *job, error_text *error);
cudaError_t memory_latency_run(void *job, size_t rotation, cudaStream_t stream);

bool latency_verify(const ceiling_job *job, error_text *error); // of both

bool fma_prepare(ceiling_job *job, error_text *error);
cudaError_t fma_run(void *job, size_t rotation, cudaStream_t stream);
bool fma_verify(const ceiling_job *job, error_text *error);

bool exp2_prepare(ceiling_job *job, error_text *error);
cudaError_t exp2_run(void *job, size_t rotation, cudaStream_t stream);
bool exp2_verify(const ceiling_job *job, error_text *error);

bool mma_prepare(ceiling_job *job, error_text *error);
cudaError_t mma_run(void *job, size_t rotation, cudaStream_t stream);
bool mma_verify(const ceiling_job *job, error_text *error);

bool wgmma_prepare(ceiling_job *job, error_text *error);
cudaError_t wgmma_run(void *job, size_t rotation, cudaStream_t stream);
bool wgmma_verify(const ceiling_job *job, error_text *error);

// --- memory.c, which the kernels' preparations share

// Allocates `bytes` of device memory, zeroed, so that elements that a kernel does not write are detected.
bool job_allocate(void **memory, size_t bytes, error_text *error);

// Fills memory with standard normal numbers in 16 bits, the same in every run. Zeros would not do, because
// the power that a product draws, and so the clock, depends on its operands. Another `seed` gives other
// numbers.
void job_random(attention_dtype dtype, uint16_t *bits, size_t count, uint64_t seed);

// Allocates device memory that holds a copy of the host's.
bool job_upload(void **memory, const void *host, size_t bytes, error_text *error);

// Copies the job's output to the host; the caller frees it. Returns NULL with a sentence on failure.
void *job_download(const ceiling_job *job, error_text *error);

// Frees the job's device memory.
void job_free(ceiling_job *job);

#endif
