// Stand-in for CUDA's <cublas_v2.h>: the products by which teaching code checks itself (cuBLAS documentation). Matrices are
// stored by columns. Sums are in float32, or in float64 for float64, in no particular order. C and C++.
#ifndef CUBLAS_V2_H
#define CUBLAS_V2_H
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include "cuda_runtime_api.h"
#include "library_types.h"

#include <stdint.h>

#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
extern "C" {
#else
typedef struct __half __half;
#endif

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef struct cublasContext *cublasHandle_t;

EMULATOR_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
EMULATOR_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
EMULATOR_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
EMULATOR_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
// The version of CUDA's runtime that the library was built with.
static inline size_t cublasGetCudartVersion(void) {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return (size_t)version;
}
EMULATOR_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
EMULATOR_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                    cublasPointerMode_t mode);
EMULATOR_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace,
                                                  size_t bytes);
EMULATOR_API const char *cublasGetStatusString(cublasStatus_t status);
EMULATOR_API const char *cublasGetStatusName(cublasStatus_t status);
#define cublasCreate         cublasCreate_v2
#define cublasDestroy        cublasDestroy_v2
#define cublasSetStream      cublasSetStream_v2
#define cublasGetVersion     cublasGetVersion_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSetWorkspace   cublasSetWorkspace_v2

// C [m, n] = alpha op(A) [m, k] op(B) [k, n] + beta C.
EMULATOR_API cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const float *alpha, const float *a, int lda,
                                           const float *b, int ldb, const float *beta, float *c,
                                           int ldc);
EMULATOR_API cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                           cublasOperation_t op_b, int m, int n, int k,
                                           const double *alpha, const double *a, int lda,
                                           const double *b, int ldb, const double *beta, double *c,
                                           int ldc);
EMULATOR_API cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, int k,
                                        const __half *alpha, const __half *a, int lda,
                                        const __half *b, int ldb, const __half *beta, __half *c,
                                        int ldc);
EMULATOR_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType type_a, int lda, long long stride_a,
    const void *b, cudaDataType type_b, int ldb, long long stride_b, const void *beta, void *c,
    cudaDataType type_c, int ldc, long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm);
EMULATOR_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const void *alpha, const void *a, cudaDataType type_a,
                                         int lda, const void *b, cudaDataType type_b, int ldb,
                                         const void *beta, void *c, cudaDataType type_c, int ldc,
                                         cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
EMULATOR_API cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const float *alpha, const float *a, int lda, long long stride_a, const float *b, int ldb,
    long long stride_b, const float *beta, float *c, int ldc, long long stride_c, int count);
EMULATOR_API cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t op, int m,
                                           int n, const float *alpha, const float *a, int lda,
                                           const float *x, int step_x, const float *beta, float *y,
                                           int step_y);
EMULATOR_API cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t op, int m,
                                           int n, const double *alpha, const double *a, int lda,
                                           const double *x, int step_x, const double *beta,
                                           double *y, int step_y);
EMULATOR_API cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, const float *alpha,
                                        const float *a, int lda, const float *beta, const float *b,
                                        int ldb, float *c, int ldc);
EMULATOR_API cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha,
                                           const float *x, int step_x, float *y, int step_y);
EMULATOR_API cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float *alpha,
                                           float *x, int step_x);
EMULATOR_API cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int step_x,
                                          const float *y, int step_y, float *result);
EMULATOR_API cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float *x, int step_x,
                                           float *result);
EMULATOR_API cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float *x, int step_x,
                                           float *result);
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasSdot  cublasSdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasSasum cublasSasum_v2

EMULATOR_API cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void *a,
                                            int lda, void *b, int ldb);
EMULATOR_API cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void *a,
                                            int lda, void *b, int ldb);
EMULATOR_API cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int step_x, void *y,
                                            int step_y);
EMULATOR_API cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int step_x, void *y,
                                            int step_y);
EMULATOR_API cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void *a,
                                                 int lda, void *b, int ldb, cudaStream_t stream);
EMULATOR_API cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void *a,
                                                 int lda, void *b, int ldb, cudaStream_t stream);
EMULATOR_API cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int step_x,
                                                 void *y, int step_y, cudaStream_t stream);
EMULATOR_API cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *x, int step_x,
                                                 void *y, int step_y, cudaStream_t stream);

#ifdef __cplusplus
}
// Before CUDA 11 the type of the sums was a type of data.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void *alpha,
                                   const void *a, cudaDataType type_a, int lda, const void *b,
                                   cudaDataType type_b, int ldb, const void *beta, void *c,
                                   cudaDataType type_c, int ldc, cudaDataType compute,
                                   cublasGemmAlgo_t algorithm) {
  const cublasComputeType_t type = compute == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                   : compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                           : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, type, algorithm);
}
#endif
#endif
