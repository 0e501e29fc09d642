#define _GNU_SOURCE
#include "blas.h"

#include "numeric/float16.h"
#include "observer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

size_t blas_bytes(cudaDataType type) {
  switch (type) {
  case CUDA_R_32F: return 4;
  case CUDA_R_64F: return 8;
  case CUDA_R_16F:
  case CUDA_R_16BF: return 2;
  default: return 0;
  }
}

double blas_read(const void *data, cudaDataType type, long long index) {
  switch (type) {
  case CUDA_R_32F: return ((const float *)data)[index];
  case CUDA_R_64F: return ((const double *)data)[index];
  case CUDA_R_16F: return (double)fp16_to_float(((const uint16_t *)data)[index]);
  default: return (double)bf16_to_float(((const uint16_t *)data)[index]);
  }
}

void blas_write(void *data, cudaDataType type, long long index, double value) {
  switch (type) {
  case CUDA_R_32F: ((float *)data)[index] = (float)value; break;
  case CUDA_R_64F: ((double *)data)[index] = value; break;
  case CUDA_R_16F: ((uint16_t *)data)[index] = fp16_from_float((float)value); break;
  default: ((uint16_t *)data)[index] = bf16_from_float((float)value); break;
  }
}

// OpenBLAS, or another library with the same C interface, where the machine has one.
typedef void sgemm_function(int order, int op_a, int op_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);
static sgemm_function *find_sgemm(void) {
  static sgemm_function *found;
  static bool looked;
  if (looked) return found;
  looked = true;
  static const char *const names[] = {"libopenblas.so.0", "libblis.so.4"};
  for (size_t i = 0; i < sizeof names / sizeof *names && found == NULL; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    memcpy(&found, &symbol, sizeof found);
  }
  return found;
}

#define MULTIPLY(name, number)                                                                     \
  static bool name(int m, int n, int k, number alpha, const blas_matrix *a, const blas_matrix *b,  \
                   number beta, const blas_matrix *c) {                                            \
    number *left = malloc(sizeof *left * ((size_t)m * (size_t)k + 1));                             \
    if (left == NULL) return false;                                                                \
    for (int j = 0; j < k; j++)                                                                    \
      for (int i = 0; i < m; i++)                                                                  \
        left[(size_t)j * (size_t)m + (size_t)i] = (number)blas_read(                               \
            a->data, a->type,                                                                      \
            a->transposed ? j + (long long)i * a->ld : i + (long long)j * a->ld);                  \
    bool done = true;                                                                              \
    _Pragma("omp parallel for") for (int column = 0; column < n; column++) {                       \
      number *sum = calloc((size_t)m, sizeof *sum);                                                \
      if (sum == NULL) {                                                                           \
        done = false;                                                                              \
        continue;                                                                                  \
      }                                                                                            \
      for (int j = 0; j < k; j++) {                                                                \
        const number factor = (number)blas_read(b->data, b->type,                                  \
                                                b->transposed ? column + (long long)j * b->ld      \
                                                              : j + (long long)column * b->ld);    \
        const number *from = left + (size_t)j * (size_t)m;                                         \
        for (int i = 0; i < m; i++) sum[i] += factor * from[i];                                    \
      }                                                                                            \
      for (int i = 0; i < m; i++) {                                                                \
        const long long at = i + (long long)column * c->ld;                                        \
        const number old = beta == 0 ? 0 : beta * (number)blas_read(c->data, c->type, at);         \
        blas_write(c->data, c->type, at, (double)(alpha * sum[i] + old));                          \
      }                                                                                            \
      free(sum);                                                                                   \
    }                                                                                              \
    free(left);                                                                                    \
    return done;                                                                                   \
  }
MULTIPLY(multiply_float, float)
MULTIPLY(multiply_double, double)
#undef MULTIPLY

cublasStatus_t blas_multiply(int m, int n, int k, double alpha, blas_matrix a, blas_matrix b,
                             double beta, blas_matrix c) {
  if (m < 0 || n < 0 || k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (blas_bytes(a.type) == 0 || blas_bytes(b.type) == 0 || blas_bytes(c.type) == 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  if (a.ld < (a.transposed ? k : m) || b.ld < (b.transposed ? n : k) || c.ld < m) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (int column = 0; column < n; column++) { // the sanitizer learns what is written now
    observer_memory_written((char *)c.data + (size_t)column * (size_t)c.ld * blas_bytes(c.type),
                            (size_t)m * blas_bytes(c.type), NULL);
  }
  sgemm_function *sgemm = find_sgemm();
  if (sgemm != NULL && a.type == CUDA_R_32F && b.type == CUDA_R_32F && c.type == CUDA_R_32F) {
    enum { COLUMNS = 102, AS_IT_IS = 111, TRANSPOSED = 112 };
    sgemm(COLUMNS, a.transposed ? TRANSPOSED : AS_IT_IS, b.transposed ? TRANSPOSED : AS_IT_IS, m, n,
          k, (float)alpha, a.data, a.ld, b.data, b.ld, (float)beta, c.data, c.ld);
    return CUBLAS_STATUS_SUCCESS;
  }
  const bool done = c.type == CUDA_R_64F
                        ? multiply_double(m, n, k, alpha, &a, &b, beta, &c)
                        : multiply_float(m, n, k, (float)alpha, &a, &b, (float)beta, &c);
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
