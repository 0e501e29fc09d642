// The functions of <cublas_v2.h>. Each one first waits until its stream has done its work.
#define _GNU_SOURCE
#include "blas.h"
#include "observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cublasContext {
  cudaStream_t stream;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  if (handle == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = calloc(1, sizeof **handle);
  return *handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
  (void)handle;
  if (version == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  (void)mode;
  return handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  (void)mode; // the host may read the device's memory
  return handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes) {
  (void)workspace;
  (void)bytes;
  return handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

const char *cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
  case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
  case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
  case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  default: return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
const char *cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

// ---- Products -----------------------------------------------------------------------------------

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  (void)algorithm;
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == NULL || beta == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const bool wide = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
  const bool narrow = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
  const cudaDataType scale = wide ? CUDA_R_64F : narrow ? CUDA_R_16F : CUDA_R_32F;
  if (compute == CUBLAS_COMPUTE_32I) return CUBLAS_STATUS_NOT_SUPPORTED;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (long long i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++) {
    const blas_matrix left = {(char *)(uintptr_t)a + (size_t)(i * stride_a) * blas_bytes(type_a),
                              type_a, lda, op_a != CUBLAS_OP_N};
    const blas_matrix right = {(char *)(uintptr_t)b + (size_t)(i * stride_b) * blas_bytes(type_b),
                               type_b, ldb, op_b != CUBLAS_OP_N};
    const blas_matrix result = {(char *)c + (size_t)(i * stride_c) * blas_bytes(type_c), type_c,
                                ldc, false};
    status = blas_multiply(m, n, k, blas_read(alpha, scale, 0), left, right,
                           blas_read(beta, scale, 0), result);
  }
  return status;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int lda, const void *b, cudaDataType type_b,
                            int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                    type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}

#define GEMM(name, number, type, compute)                                                          \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,       \
                      int m, int n, int k, const number *alpha, const number *a, int lda,          \
                      const number *b, int ldb, const number *beta, number *c, int ldc) {          \
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type, lda, b, type, ldb, beta, c,   \
                        type, ldc, compute, CUBLAS_GEMM_DEFAULT);                                  \
  }
GEMM(cublasSgemm_v2, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
GEMM(cublasDgemm_v2, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
GEMM(cublasHgemm, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef GEMM

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int count) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda,
                                    stride_a, b, CUDA_R_32F, ldb, stride_b, beta, c, CUDA_R_32F,
                                    ldc, stride_c, count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

// ---- Vectors ------------------------------------------------------------------------------------

// y = alpha op(A) x + beta y, A [m, n]. A step below 0 counts from the end, which no teaching code uses.
#define GEMV(name, number)                                                                         \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op, int m, int n,                   \
                      const number *alpha, const number *a, int lda, const number *x, int step_x,  \
                      const number *beta, number *y, int step_y) {                                 \
    if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;                                      \
    if (m < 0 || n < 0 || lda < m || step_x <= 0 || step_y <= 0)                                   \
      return CUBLAS_STATUS_INVALID_VALUE;                                                          \
    if (cudaStreamSynchronize(handle->stream) != cudaSuccess)                                      \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                       \
    const int rows = op == CUBLAS_OP_N ? m : n, inner = op == CUBLAS_OP_N ? n : m;                 \
    for (int i = 0; i < rows; i++) {                                                               \
      number sum = 0;                                                                              \
      for (int j = 0; j < inner; j++)                                                              \
        sum += (op == CUBLAS_OP_N ? a[i + (size_t)j * (size_t)lda]                                 \
                                  : a[j + (size_t)i * (size_t)lda]) *                              \
               x[(size_t)j * (size_t)step_x];                                                      \
      number *to = &y[(size_t)i * (size_t)step_y];                                                 \
      observer_memory_written(to, sizeof *to, NULL);                                               \
      *to = *alpha * sum + (*beta == 0 ? 0 : *beta * *to);                                         \
    }                                                                                              \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }
GEMV(cublasSgemv_v2, float)
GEMV(cublasDgemv_v2, double)
#undef GEMV

// Element (row, column) of op(A), where A counts for 0 when its factor is 0: it may then be NULL.
static float factored(float factor, const float *a, int lda, cublasOperation_t op, int row,
                      int column) {
  if (factor == 0) return 0;
  return factor * (op == CUBLAS_OP_N ? a[row + (size_t)column * (size_t)lda]
                                     : a[column + (size_t)row * (size_t)lda]);
}

// C [m, n] = alpha op(A) + beta op(B); teaching code transposes with it. C may be A or B only where that is not
// transposed.
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, const float *alpha, const float *a, int lda,
                           const float *beta, const float *b, int ldb, float *c, int ldc) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || ldc < m || (*alpha != 0 && lda < (op_a == CUBLAS_OP_N ? m : n)) ||
      (*beta != 0 && ldb < (op_b == CUBLAS_OP_N ? m : n)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int column = 0; column < n; column++) {
    float *to = c + (size_t)column * (size_t)ldc;
    observer_memory_written(to, (size_t)m * sizeof *to, NULL);
    for (int row = 0; row < m; row++) {
      to[row] =
          factored(*alpha, a, lda, op_a, row, column) + factored(*beta, b, ldb, op_b, row, column);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x,
                              int step_x, float *y, int step_y) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (step_x <= 0 || step_y <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  cudaStreamSynchronize(handle->stream);
  for (long long i = 0; i < n; i++) y[i * step_y] += *alpha * x[i * step_x];
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float *alpha, float *x,
                              int step_x) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (step_x <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  cudaStreamSynchronize(handle->stream);
  for (long long i = 0; i < n; i++) x[i * step_x] *= *alpha;
  return CUBLAS_STATUS_SUCCESS;
}
#define SUM(name, term, finish)                                                                    \
  cublasStatus_t name(cublasHandle_t handle, int n, const float *x, int step_x, float *result) {   \
    if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;                                      \
    if (step_x <= 0 || result == NULL) return CUBLAS_STATUS_INVALID_VALUE;                         \
    cudaStreamSynchronize(handle->stream);                                                         \
    double sum = 0;                                                                                \
    for (long long i = 0; i < n; i++) {                                                            \
      const double value = x[i * step_x];                                                          \
      sum += term;                                                                                 \
    }                                                                                              \
    *result = (float)finish;                                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }
SUM(cublasSnrm2_v2, value *value, sqrt(sum))
SUM(cublasSasum_v2, fabs(value), sum)
#undef SUM
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int step_x,
                             const float *y, int step_y, float *result) {
  if (handle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (step_x <= 0 || step_y <= 0 || result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  cudaStreamSynchronize(handle->stream);
  double sum = 0;
  for (long long i = 0; i < n; i++) sum += (double)x[i * step_x] * y[i * step_y];
  *result = (float)sum;
  return CUBLAS_STATUS_SUCCESS;
}

// ---- Copies -------------------------------------------------------------------------------------

static cublasStatus_t copy(int rows, int columns, int bytes, const void *a, int lda, void *b,
                           int ldb, bool waits, cudaStream_t stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda < rows || ldb < rows) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const size_t width = (size_t)rows * (size_t)bytes, height = (size_t)columns;
  const size_t pitch_a = (size_t)lda * (size_t)bytes, pitch_b = (size_t)ldb * (size_t)bytes;
  const cudaError_t error =
      waits ? cudaMemcpy2D(b, pitch_b, a, pitch_a, width, height, cudaMemcpyDefault)
            : cudaMemcpy2DAsync(b, pitch_b, a, pitch_a, width, height, cudaMemcpyDefault, stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
// Set and Get differ in the direction of the copy, which the pointers tell. A vector is a matrix of one row.
#define COPIES(name)                                                                               \
  cublasStatus_t cublas##name##Matrix(int rows, int columns, int bytes, const void *a, int lda,    \
                                      void *b, int ldb) {                                          \
    return copy(rows, columns, bytes, a, lda, b, ldb, true, NULL);                                 \
  }                                                                                                \
  cublasStatus_t cublas##name##MatrixAsync(int rows, int columns, int bytes, const void *a,        \
                                           int lda, void *b, int ldb, cudaStream_t stream) {       \
    return copy(rows, columns, bytes, a, lda, b, ldb, false, stream);                              \
  }                                                                                                \
  cublasStatus_t cublas##name##Vector(int n, int bytes, const void *x, int step_x, void *y,        \
                                      int step_y) {                                                \
    return copy(1, n, bytes, x, step_x, y, step_y, true, NULL);                                    \
  }                                                                                                \
  cublasStatus_t cublas##name##VectorAsync(int n, int bytes, const void *x, int step_x, void *y,   \
                                           int step_y, cudaStream_t stream) {                      \
    return copy(1, n, bytes, x, step_x, y, step_y, false, stream);                                 \
  }
COPIES(Set)
COPIES(Get)
#undef COPIES
