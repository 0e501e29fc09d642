// The functions of <cublasLt.h>.
#define _GNU_SOURCE
#include "blas.h"
#include "cublasLt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cublasLtContext {
  char unused;
};
struct cublasLtMatmulPreferenceOpaque {
  size_t workspace;
};
struct cublasLtMatmulDescOpaque {
  cudaDataType_t scale;
  cublasOperation_t op_a, op_b;
  cublasLtEpilogue_t epilogue;
  void *bias;
  cudaDataType_t bias_type;
  bool has_bias_type;
  void *aux;
  int64_t aux_ld;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t ld;
  int32_t count;
  int64_t stride;
};

#define MAKE(out)                                                                                  \
  if ((out) == NULL) return CUBLAS_STATUS_INVALID_VALUE;                                           \
  *(out) = calloc(1, sizeof **(out));                                                              \
  if (*(out) == NULL) return CUBLAS_STATUS_ALLOC_FAILED

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  MAKE(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  (void)compute;
  MAKE(desc);
  (*desc)->scale = scale;
  (*desc)->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  free(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes) {
  struct {
    void *at;
    size_t bytes;
  } field = {NULL, 0};
  if (desc == NULL || value == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA: field.at = &desc->op_a, field.bytes = 4; break;
  case CUBLASLT_MATMUL_DESC_TRANSB: field.at = &desc->op_b, field.bytes = 4; break;
  case CUBLASLT_MATMUL_DESC_EPILOGUE: field.at = &desc->epilogue, field.bytes = 4; break;
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE: field.at = &desc->scale, field.bytes = 4; break;
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER: field.at = &desc->bias, field.bytes = 8; break;
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: field.at = &desc->aux, field.bytes = 8; break;
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: field.at = &desc->aux_ld, field.bytes = 8; break;
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    field.at = &desc->bias_type, field.bytes = 4;
    desc->has_bias_type = true;
    break;
  default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (bytes < field.bytes) return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(field.at, value, field.bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  MAKE(layout);
  **layout = (struct cublasLtMatrixLayoutOpaque){type, rows, columns, ld, 1, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  free(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes) {
  if (layout == NULL || value == NULL) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes >= sizeof layout->count) {
    memcpy(&layout->count, value, sizeof layout->count);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
             bytes >= sizeof layout->stride) {
    memcpy(&layout->stride, value, sizeof layout->stride);
  } else {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  MAKE(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  free(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes) {
  (void)attribute;
  (void)bytes;
  return preference != NULL && value != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int asked,
                                              cublasLtMatmulHeuristicResult_t *results,
                                              int *found) {
  (void)a;
  (void)b;
  (void)c;
  (void)d;
  (void)preference;
  if (handle == NULL || desc == NULL || results == NULL || found == NULL || asked < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  memset(results, 0, sizeof *results); // the emulator has one way
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
static double gelu_slope(double x) {
  const double t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

// Applies the epilogue to the product: a bias for each row, and then a function of each number.
static cublasStatus_t finish(const struct cublasLtMatmulDescOpaque *desc, blas_matrix d, int m,
                             int n) {
  enum { RELU = 2, BIAS = 4, GELU = 32, DGELU = 64, AUX = 128 };
  const int epilogue = (int)desc->epilogue;
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  if ((epilogue & ~(RELU | BIAS | GELU | DGELU | AUX)) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (((epilogue & BIAS) && desc->bias == NULL) || ((epilogue & AUX) && desc->aux == NULL)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaDataType bias_type = desc->has_bias_type ? desc->bias_type : d.type;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      const long long at = i + (long long)j * d.ld, aux_at = i + j * desc->aux_ld;
      double value = blas_read(d.data, d.type, at);
      if (epilogue & BIAS) value += blas_read(desc->bias, bias_type, i);
      if (epilogue & DGELU) {
        value *= gelu_slope(blas_read(desc->aux, d.type, aux_at));
      } else if (epilogue & AUX) {
        blas_write(desc->aux, d.type, aux_at, value);
      }
      if (epilogue & GELU) value = gelu(value);
      if ((epilogue & RELU) && value < 0) value = 0;
      blas_write(d.data, d.type, at, value);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t layout_a, const void *b,
                              cublasLtMatrixLayout_t layout_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t layout_c, void *d,
                              cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  (void)algorithm;
  (void)workspace;
  (void)workspace_bytes;
  (void)layout_c;
  if (handle == NULL || desc == NULL || alpha == NULL || beta == NULL) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (cudaStreamSynchronize(stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const double beta_value = blas_read(beta, desc->scale, 0);
  if (c != d && beta_value != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int m = (int)layout_d->rows, n = (int)layout_d->columns;
  const int k = (int)(desc->op_a == CUBLAS_OP_N ? layout_a->columns : layout_a->rows);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (int64_t i = 0; i < layout_d->count && status == CUBLAS_STATUS_SUCCESS; i++) {
    const blas_matrix left = {(char *)(uintptr_t)a +
                                  (size_t)(i * layout_a->stride) * blas_bytes(layout_a->type),
                              layout_a->type, (int)layout_a->ld, desc->op_a != CUBLAS_OP_N};
    const blas_matrix right = {(char *)(uintptr_t)b +
                                   (size_t)(i * layout_b->stride) * blas_bytes(layout_b->type),
                               layout_b->type, (int)layout_b->ld, desc->op_b != CUBLAS_OP_N};
    const blas_matrix result = {(char *)d +
                                    (size_t)(i * layout_d->stride) * blas_bytes(layout_d->type),
                                layout_d->type, (int)layout_d->ld, false};
    status =
        blas_multiply(m, n, k, blas_read(alpha, desc->scale, 0), left, right, beta_value, result);
    if (status == CUBLAS_STATUS_SUCCESS) status = finish(desc, result, m, n);
  }
  return status;
}
