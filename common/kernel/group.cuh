// Code that the steps for several GPUs share and that is not the subject of any of them, such as the sizes of shares,
// the copy of a share with its pad, and NCCL's errors as CUDA's.
#ifndef GROUP_CUH
#define GROUP_CUH

#include "kernel.cuh"
#include <nccl.h>

#define TAKES_A_GROUP // see configurations.cuh

// The rows of a sequence are shared out in pieces of a multiple of this number, which is the largest key block. So no
// block has keys of two pieces, and TMA fills each panel of it by one copy.
static constexpr int PIECE_MULTIPLE = 128;

// Returns the rows of each piece where `seq` rows are divided into so many pieces. The last pieces may have fewer rows,
// or none.
static inline int piece_rows(int seq, int pieces) {
  return divide_up(divide_up(seq, pieces), PIECE_MULTIPLE) * PIECE_MULTIPLE;
}

// Returns the rows of piece `number`.
static inline attention_rows rows_of_piece(int seq, int number, int rows) {
  const long long first = min((long long)number * rows, (long long)seq);
  return {(int)first, (int)min((long long)rows, seq - first)};
}

static inline cudaError_t of_nccl(ncclResult_t result) {
  return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown;
}

// Copies `rows` rows of 16-bit elements of each head to a share of `share_rows` rows of each head.
static inline cudaError_t copy_rows(void *share, const void *own, int heads, int rows,
                                    int share_rows, int head_dim, cudaStream_t stream) {
  const size_t row_bytes = (size_t)head_dim * sizeof(half);
  const size_t bytes = rows * row_bytes;
  if (rows == share_rows)
    return cudaMemcpyAsync(share, own, heads * bytes, cudaMemcpyDeviceToDevice, stream);
  cudaError_t error = cudaSuccess;
  for (int head = 0; head < heads && bytes > 0 && error == cudaSuccess; head++)
    error =
        cudaMemcpyAsync((char *)share + (size_t)head * share_rows * row_bytes,
                        (const char *)own + head * bytes, bytes, cudaMemcpyDeviceToDevice, stream);
  return error;
}

// Does the same, and fills the rows that are missing with zeros. Keys there are masked, but their values are multiplied
// by probabilities of 0, and 0 times NaN would be NaN.
static inline cudaError_t copy_share(void *share, const void *own, int heads, int rows,
                                     int share_rows, int head_dim, cudaStream_t stream) {
  const size_t row_bytes = (size_t)head_dim * sizeof(half);
  const size_t missing = (share_rows - rows) * row_bytes;
  cudaError_t error = copy_rows(share, own, heads, rows, share_rows, head_dim, stream);
  for (int head = 0; head < heads && missing > 0 && error == cudaSuccess; head++) {
    char *behind = (char *)share + ((size_t)head * share_rows + rows) * row_bytes;
    error = cudaMemsetAsync(behind, 0, missing, stream);
  }
  return error;
}

// Lets what will be enqueued on `stream` wait for what has been enqueued on `other`.
static inline cudaError_t wait_for(cudaStream_t stream, cudaStream_t other) {
  cudaEvent_t event;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  error = cudaEventRecord(event, other);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, event, 0);
  const cudaError_t destroyed = cudaEventDestroy(event); // as soon as it is no longer needed
  return error == cudaSuccess ? destroyed : error;
}

#endif
