// Products of matrices for the stand-ins of cuBLAS. Matrices are stored by columns.
#ifndef BLAS_H
#define BLAS_H

#include "cublas_v2.h"

#include <stdbool.h>

typedef struct {
  void *data;
  cudaDataType type;
  int ld;
  bool transposed;
} blas_matrix;

// C [m, n] = alpha A [m, k] B [k, n] + beta C; sums in float64 where C is float64, else in float32.
cublasStatus_t blas_multiply(int m, int n, int k, double alpha, blas_matrix a, blas_matrix b,
                             double beta, blas_matrix c);

// Read and write one number of a matrix or vector of that type.
double blas_read(const void *data, cudaDataType type, long long index);
void blas_write(void *data, cudaDataType type, long long index, double value);
size_t blas_bytes(cudaDataType type); // 0 for a type that is not here

#endif
