// The interface every step implements: forward attention, O = softmax(scale * Q K^T + mask) V.
//
// Tensors are contiguous and row-major, the last dimension fastest:
//   Q, O    [batch, heads,    seq_q,  head_dim]   fp16 or bf16
//   K, V    [batch, kv_heads, seq_kv, head_dim]   same type as Q
//   lse     [batch, heads,    seq_q]              float32: log of the sum of exp(scaled scores)
//
// Grouped-query attention: query head h reads key/value head h / (heads / kv_heads).
//
// Scores are computed in float32, before and after they are scaled. Scores beyond 2e38 are too large for it. Q, K and V
// are finite: from step 02 on the value of a key that a row does not see is multiplied by 0, and 0 times infinity is NaN.
// In step 17 and those that go on from it (21 to 24, and 26) values of V in bf16 are below 2^64 / seq_kv as well: larger
// ones may give infinity (steps/17_lazy_max).
//
// The causal mask is aligned to the bottom right corner: row i sees the keys
// j <= i + seq_kv - seq_q. A row that sees no key gives O = 0 and lse = -infinity.
#ifndef ATTENTION_H
#define ATTENTION_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ATTENTION_FP16, ATTENTION_BF16 } attention_dtype;

typedef struct {
  attention_dtype dtype;
  int batch;
  int heads;
  int kv_heads; // divides heads
  int seq_q;
  int seq_kv;
  int head_dim; // 1 to 128 in steps 01 to 06; later steps may take fewer
  bool causal;
  float scale; // multiplies Q K^T; usually 1 / sqrt(head_dim). Above 0 from step 04 on.
} attention_shape;

typedef struct {
  attention_shape shape;
  // Device pointers, each aligned to 16 bytes.
  const void *q;
  const void *k;
  const void *v;
  void *o;
  float *lse;      // NULL when the caller does not want it
  void *workspace; // attention_workspace_bytes(shape) bytes; NULL when that is 0
} attention_args;

// A step exports either attention_forward and attention_workspace_bytes, which work on one GPU, or the functions for
// several GPUs below. The attribute says that a program can be linked with a step that lacks one of them; its address is
// then NULL.
//
// Enqueues the whole computation on `stream` and returns without waiting for it. Writes every
// element of `o` and of `lse`, and reads nothing but `q`, `k`, `v` and the workspace. The shape must be one for which
// attention_unsupported returns NULL. Returns the first error of a launch, else cudaSuccess.
cudaError_t attention_forward(const attention_args *args, cudaStream_t stream)
    __attribute__((weak));

// Returns how many bytes of device memory the step needs beside its tensors, which may be 0. Calls that can
// run at the same time must not share this memory. It may hold anything before a call, but for step 25: there it must hold
// zeros, or what a step of the lab has left (common/kernel/words.cuh). Returns SIZE_MAX when the count does not fit; some
// steps do so for every shape that they do not take.
size_t attention_workspace_bytes(const attention_shape *shape) __attribute__((weak));

// --- several GPUs --------------------------------------------------------------------------------
//
// The rows of the sequence are spread over several GPUs (context parallelism). Each GPU is a rank, 0 to ranks - 1, and
// has its own rows of Q, K, V, O and lse.
typedef struct {
  const void *k, *v; // of a rank
} attention_peer;

typedef struct {
  struct ncclComm *comm; // NCCL's ncclComm_t, of this rank
  int rank, ranks;
  // More streams of this rank, for work beside that of `stream`. `copies` has `ranks` of them, for the copies from each
  // rank, and `products` is one more.
  const cudaStream_t *copies;
  cudaStream_t products;
  // The tensors of all ranks, if this rank's GPU reaches them, else NULL.
  const attention_peer *peers;
} attention_group;

// Consecutive rows of a sequence.
typedef struct {
  int first, count;
} attention_rows;

// Says which rows of a sequence of `seq` rows belong to a rank: those of rows[0], and behind them those of rows[1]. A
// count may be 0. Each row belongs to one rank. Q, O and lse are shared out with seq = seq_q, K and V with seq = seq_kv.
void attention_group_rows(int seq, int rank, int ranks, attention_rows rows[2])
    __attribute__((weak));

// Enqueues the rank's part of the computation on `stream`, and may use the other streams of the group as well, for
// which `stream` waits in the end. It returns without waiting. Every rank calls it, with its own GPU current, and with
// the same shape.
// A rank may still read K and V of another when that one's stream is done. So K and V stay as they are until all ranks
// have finished; the exchange of the next call waits for that, too.
// `args->shape` is the shape of the whole problem; the tensors are the rank's own rows, [batch, heads, own rows,
// head_dim]. `args->lse` is NULL on all ranks or on none. Returns the first error of a launch, or cudaErrorUnknown where
// NCCL reports one.
// A call of CUDA on the host may wait until GPUs are idle, and an exchange makes a GPU wait for the other ranks' host
// threads. So that these two never wait for each other, a program loads all kernels and makes all connections at the
// start (CUDA_MODULE_LOADING=EAGER and NCCL_RUNTIME_CONNECT=0, before its first calls of CUDA and NCCL), and no rank
// begins a launch before all ranks have enqueued the one before (group_line_up in group/group.h).
cudaError_t attention_forward_group(const attention_args *args, const attention_group *group,
                                    cudaStream_t stream) __attribute__((weak));

// Returns how many bytes of device memory each rank needs beside its tensors, as attention_workspace_bytes does. They
// are the same for all ranks.
size_t attention_group_workspace_bytes(const attention_shape *shape, int ranks)
    __attribute__((weak));

// Returns NULL when the rows of the shape can be shared out among so many ranks, else one sentence that says why not. A
// step that takes any number of ranks up to that of the rows need not export it.
const char *attention_group_unsupported(const attention_shape *shape, int ranks)
    __attribute__((weak));

// --- every step ----------------------------------------------------------------------------------

// Returns NULL when the step can take the shape; else one sentence that says what it cannot take and which
// step can.
const char *attention_unsupported(const attention_shape *shape);

// They return the step's folder name, such as "04_online_softmax", and what the step adds, in a few words.
const char *attention_name(void);
const char *attention_summary(void);

// Returns the path of the source, where that is not the one in steps/. No step exports this itself; see
// STEPS_FOLDER in make/config.mk.
const char *attention_source(void) __attribute__((weak));

// Steps with named configurations, one or several, export these four functions as well; others do not.
//
// Returns the names of the configurations, ended by NULL. A name is BLOCK_M x BLOCK_N x WARPS such as
// "64x64x4", or with a ring of tiles BLOCK_M x BLOCK_N x WARPS x STAGES such as "64x64x4x2".
const char *const *attention_configurations(void) __attribute__((weak));

// Chooses the configuration of the calls that follow, in all threads; NULL gives the choice back to the
// step, which takes the one that was fastest for the shape when it was measured. Returns false when no
// configuration has that name.
bool attention_configure(const char *name) __attribute__((weak));

// Returns the name of the configuration that a call takes for the shape. It is the chosen one, or else the step's own choice.
const char *attention_configuration(const attention_shape *shape) __attribute__((weak));

// Returns how many bytes of dynamic shared memory a block takes, for the shape in the chosen configuration.
size_t attention_shared_memory_bytes(const attention_shape *shape) __attribute__((weak));

#ifdef __cplusplus
}
#endif
#endif
