// 01_naive: the formula, term by term.
//
// Three kernels follow the definition O = softmax(scale * Q K^T) V: all scores, then the softmax of
// every row, then the weighted sums of V. Every output element has one thread that fetches what it
// needs from global memory and shares nothing. The scores live in global memory in between.
//
//   scores_kernel    S [seq_q, seq_kv]      one thread: one score, a dot product of head_dim terms
//   softmax_kernel   P over S               one thread: one row
//   output_kernel    O [seq_q, head_dim]    one thread: one element, a sum of seq_kv terms
//
// Cost for each head: S is written, read three times and written twice by the softmax, and read again for every
// column of O. K and V are each read seq_q times. Memory grows with seq_q * seq_kv.
// Look next at 02_tiled, which fetches each value once for a whole tile.
#include "kernel.cuh"

static constexpr int THREADS = 256; // of a block, in all three kernels
static_assert(THREADS % 32 == 0, "a block is made of whole warps");

// S[batch, head, query, key] = scale * Q[batch, head, query, :] . K[batch, kv_head, key, :]
template <typename Element>
__global__ void scores_kernel(const Element *Q, const Element *K, float *S, attention_shape shape) {
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const int key = index % shape.seq_kv;
  const size_t row = index / shape.seq_kv; // of batch * heads * seq_q rows
  const int query = row % shape.seq_q;
  const int head = row / shape.seq_q % shape.heads;
  const int batch = row / shape.seq_q / shape.heads;
  if (batch >= shape.batch || key >= visible_keys(shape, query)) return;

  // exercise: store in S[index] the dot product of a row of Q and a row of K, times the scale
  const Element *q = Q + row * shape.head_dim;
  const Element *k = K + (key_value_head(shape, batch, head) * shape.seq_kv + key) * shape.head_dim;
  float sum = 0.0f;
  for (int d = 0; d < shape.head_dim; d++) sum += to_float(q[d]) * to_float(k[d]);
  S[index] = shape.scale * sum;
  // end of exercise
}

// Turns each row of scores into probabilities, in place, and keeps its log-sum-exp.
__global__ void softmax_kernel(float *S, float *lse, attention_shape shape) {
  const size_t row = (size_t)blockIdx.x * THREADS + threadIdx.x;
  if (row >= (size_t)shape.batch * shape.heads * shape.seq_q) return;
  const int keys = visible_keys(shape, row % shape.seq_q);
  float *s = S + row * shape.seq_kv;

  // exercise: replace the row's first `keys` scores by its probabilities, and store its log-sum-exp
  float row_max = -INFINITY; // subtracted before exp, so that no score overflows it
  for (int key = 0; key < keys; key++) row_max = fmaxf(row_max, s[key]);

  float row_sum = 0.0f;
  for (int key = 0; key < keys; key++) {
    s[key] = expf(s[key] - row_max);
    row_sum += s[key];
  }
  for (int key = 0; key < keys; key++) s[key] /= row_sum;

  if (lse) lse[row] = row_max + logf(row_sum); // -infinity when the row sees no key
  // end of exercise
}

// O[batch, head, query, d] = P[batch, head, query, :] . V[batch, kv_head, :, d]
template <typename Element>
__global__ void output_kernel(const float *P, const Element *V, Element *O, attention_shape shape) {
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const int d = index % shape.head_dim;
  const size_t row = index / shape.head_dim;
  const int query = row % shape.seq_q;
  const int head = row / shape.seq_q % shape.heads;
  const int batch = row / shape.seq_q / shape.heads;
  if (batch >= shape.batch) return;

  const float *p = P + row * shape.seq_kv;
  const Element *v = V + key_value_head(shape, batch, head) * shape.seq_kv * shape.head_dim + d;
  const int keys = visible_keys(shape, query);
  // exercise: add up the row's probabilities, each times column d of its key's row of V
  float sum = 0.0f;
  for (int key = 0; key < keys; key++) sum += p[key] * to_float(v[(size_t)key * shape.head_dim]);
  O[index] = from_float<Element>(sum);
  // end of exercise
}

template <typename Element>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const size_t rows = (size_t)shape.batch * shape.heads * shape.seq_q;
  const auto blocks = [](size_t threads) { return (unsigned)((threads + THREADS - 1) / THREADS); };
  float *S = (float *)args->workspace;

  scores_kernel<Element><<<blocks(rows * shape.seq_kv), THREADS, 0, stream>>>(
      (const Element *)args->q, (const Element *)args->k, S, shape);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;

  softmax_kernel<<<blocks(rows), THREADS, 0, stream>>>(S, args->lse, shape);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;

  output_kernel<Element><<<blocks(rows * shape.head_dim), THREADS, 0, stream>>>(
      S, (const Element *)args->v, (Element *)args->o, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "01_naive"; }

const char *attention_summary(void) { return "one thread per element, scores in global memory"; }

const char *attention_unsupported(const attention_shape *shape) {
  return shape->head_dim > 128 ? "head_dim is at most 128, in this step and in all others" : NULL;
}

size_t attention_workspace_bytes(const attention_shape *shape) { return score_matrix_bytes(shape); }

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return args->shape.dtype == ATTENTION_FP16 ? launch<half>(args, stream)
                                             : launch<__nv_bfloat16>(args, stream);
}
