// Inline PTX, tensor cores and cuBLAS.
#include "feature.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
using namespace nvcuda;

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__global__ void arithmetic(unsigned *out, float *real) {
  unsigned a = 0x0F0F00FF, b = lane_id() + 1, r;
  asm volatile("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(0x10u));
  out[0] = r; // a xor b xor 0x10
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(r) : "r"(0x11223344u), "r"(0xAABBCCDDu));
  out[1] = r;
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(0x11223344u), "r"(0xAABBCCDDu));
  out[2] = r;
  asm("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\t"
      "mad.lo.u32 t, %1, 3, 4;\n\tsetp.gt.u32 p, t, 10;\n\tselp.u32 %0, t, 0, p;\n\t}"
      : "=r"(r)
      : "r"(5u));
  out[3] = r;
  float x = 3.0f;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x));
  real[0] = x;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(2.0f), "f"(1.0f));
  out[4] = r;
  asm volatile("{\n\t.reg .pred p;\n\tmov.u32 %0, 0;\n"
               "again_%=:\n\tadd.u32 %0, %0, 3;\n\tsetp.lt.u32 p, %0, 10;\n\t@p bra again_%=;\n\t}"
               : "=r"(r)::"memory");
  out[7] = r; // the first multiple of 3 that is not below 10
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(out + 5), "r"(7u) : "memory");
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(out + 5), "r"(1u) : "memory");
  out[6] = r;
}

FEATURE(inline_ptx_of_a_thread,
        "mov, arithmetic, lop3, shf, prmt, bfe, bfi, setp, selp, cvt, ex2 and other functions, ld, "
        "st, red, atom, prefetch, branches to labels of the same statement",
        "instructions that are not in the list: one sentence with the line") {
  unsigned *out;
  float *real;
  CHECK(cudaMallocManaged(&out, 8 * sizeof(unsigned)));
  CHECK(cudaMallocManaged(&real, sizeof(float)));
  out[5] = 1;
  arithmetic<<<1, 1>>>(out, real);
  CHECK(cudaDeviceSynchronize());
  return out[0] == (0x0F0F00FFu ^ 1u ^ 0x10u) && out[1] == 0xBBCCDD11u && out[2] == 0xCCDD3344u &&
         out[3] == 19 && real[0] == 8 && out[4] == 0x40003C00u && out[5] == 9 && out[6] == 8 &&
         out[7] == 12;
}

__global__ void swap_halves(const ulonglong2 *in, ulonglong2 *out) {
  asm volatile("{\n.reg .b64 low, high;\n.reg .b128 all;\n"
               "ld.relaxed.gpu.global.b128 all, [%1];\n"
               "mov.b128 {low, high}, all;\n"
               "mov.b128 all, {high, low};\n"
               "st.relaxed.gpu.global.b128 [%0], all;\n}" ::"l"(out),
               "l"(in)
               : "memory");
}

FEATURE(inline_ptx_of_128_bits,
        "ld, st and mov of b128: for a reader that looks for a mark in the upper half, the access "
        "is one",
        "an access is two of 64 bits, so the lower half can be newer than the upper one") {
  ulonglong2 *numbers;
  CHECK(cudaMallocManaged(&numbers, 2 * sizeof *numbers));
  numbers[0] = {1, 1ull << 40};
  swap_halves<<<1, 1>>>(numbers, numbers + 1);
  CHECK(cudaDeviceSynchronize());
  return numbers[1].x == 1ull << 40 && numbers[1].y == 1;
}

// C [16, 8] = A [16, 16] B [16, 8], as FlashAttention-style kernels write it.
template <int BYTES>
__global__ void multiply(const half *__restrict__ A, const half *__restrict__ B, float *C) {
  __shared__ alignas(16) half As[16 * 16];
  __shared__ alignas(16) half Bs[8 * 16]; // by columns
  unsigned a_address = __cvta_generic_to_shared(&As[threadIdx.x * 8]);
  unsigned b_address = __cvta_generic_to_shared(&Bs[threadIdx.x % 16 * 8]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(a_address),
               "l"(&A[threadIdx.x * 8]));
  if (threadIdx.x < 16)
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(b_address),
                 "l"(&B[threadIdx.x * 8]), "n"(BYTES));
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  asm volatile("bar.sync 0;");
  unsigned a[4], b[2];
  int lane = threadIdx.x;
  unsigned row = __cvta_generic_to_shared(&As[lane % 16 * 16 + lane / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(row));
  row = __cvta_generic_to_shared(&Bs[lane % 8 * 16 + lane / 8 % 2 * 8]);
  asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];" // or in this order
               : "=r"(b[0]), "=r"(b[1])
               : "r"(row));
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) C[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

FEATURE(inline_ptx_of_a_warp,
        "cp.async and its groups, ldmatrix x1, x2, x4 and trans, mma.sync m16n8k8 and m16n8k16, "
        "bar, shfl, vote, redux",
        "tcgen05: one sentence") {
  half *A, *B;
  float *C;
  CHECK(cudaMallocManaged(&A, 256 * sizeof(half)));
  CHECK(cudaMallocManaged(&B, 128 * sizeof(half)));
  CHECK(cudaMallocManaged(&C, 128 * sizeof(float)));
  for (int i = 0; i < 256; i++) A[i] = __float2half(i % 7 - 3.0f);
  for (int i = 0; i < 128; i++) B[i] = __float2half(i % 5 - 2.0f);
  multiply<16><<<1, 32>>>(A, B, C);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < 8; j++) {
      float sum = 0;
      for (int k = 0; k < 16; k++) sum += __half2float(A[i * 16 + k]) * __half2float(B[j * 16 + k]);
      if (sum != C[i * 8 + j]) return false;
    }
  }
  return true;
}

// Is 63 among the numbers of two warps, and is none of them 63?
__global__ void ask_all(const int *in, int *out) {
  int any, all;
  asm volatile("{.reg .pred p, q;\n\tsetp.eq.s32 p, %2, 63;\n\tbar.red.or.pred q, 1, 64, p;\n\t"
               "selp.s32 %0, 1, 0, q;\n\tbar.red.and.pred q, 1, 64, !p;\n\tselp.s32 %1, 1, 0, q;}"
               : "=r"(any), "=r"(all)
               : "r"(in[threadIdx.x]));
  out[2 * threadIdx.x] = any;
  out[2 * threadIdx.x + 1] = all;
}

FEATURE(inline_ptx_of_a_block, "bar.sync, bar.arrive, bar.red.or and bar.red.and",
        "bar.red.popc: one sentence") {
  int *in, *out;
  CHECK(cudaMallocManaged(&in, 64 * sizeof *in));
  CHECK(cudaMallocManaged(&out, 128 * sizeof *out));
  for (int last = 62; last <= 63; last++) {
    for (int i = 0; i < 64; i++) in[i] = i < 63 ? i : last;
    ask_all<<<1, 64>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
      if (out[2 * i] != (last == 63) || out[2 * i + 1] != (last == 62)) return false;
  }
  return true;
}

template <typename T, typename Storage, typename Sum, int M, int N, int K>
__global__ void multiply_wmma(const Storage *a, const Storage *b, Sum *c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> B;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> C;
  wmma::fill_fragment(C, Sum(1));
  wmma::load_matrix_sync(A, a, K);
  wmma::load_matrix_sync(B, b, K);
  wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(c, C, N, wmma::mem_row_major);
}

template <typename T, typename Storage, typename Sum, int M, int N, int K>
static bool right_product() {
  Storage *a;
  Sum *c;
  CHECK(cudaMallocManaged(&a, (M + N) * K * sizeof(Storage)));
  CHECK(cudaMallocManaged(&c, M * N * sizeof(Sum)));
  Storage *b = a + M * K;
  for (int i = 0; i < (M + N) * K; i++) a[i] = Storage(i % 9 - 4);
  multiply_wmma<T, Storage, Sum, M, N, K><<<1, 32>>>(a, b, c);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < N; j++) {
      Sum sum = 1;
      for (int k = 0; k < K; k++) sum += Sum(a[i * K + k]) * Sum(b[j * K + k]);
      if (sum != c[i * N + j]) return false;
    }
  }
  return true;
}

FEATURE(wmma_of_other_types, "wmma of half, bfloat16, tf32, double and 8-bit integers",
        "4 bits and single bits: a type that is not complete") {
  return right_product<wmma::precision::tf32, float, float, 16, 16, 8>() &&
         right_product<double, double, double, 8, 8, 4>() &&
         right_product<signed char, signed char, int, 16, 16, 16>();
}

FEATURE(cublas,
        "cuBLAS: gemm S, D, H and Ex with 16-bit types, strided batches, gemv, geam, level 1, "
        "copies of "
        "matrices and vectors; cublasLt with bias and GELU",
        "other functions: the linker names them") {
  const int m = 5, n = 4, k = 3;
  float *a;
  CHECK(cudaMallocManaged(&a, 100 * sizeof(float)));
  float *b = a + m * k, *c = b + k * n;
  for (int i = 0; i < m * k + k * n; i++) a[i] = i % 6;
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cublasGetCudartVersion() < 11000)
    return false;
  const float alpha = 2.0f, beta = 0.0f;
  // Row-major C = A B is column-major C' = B' A'.
  if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, n, a, k, &beta, c, n) !=
      CUBLAS_STATUS_SUCCESS)
    return false;
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
      if (c[i * n + j] != 2 * sum) return false;
    }
  }
  // [3, 2], transposed: 2 A' + B, then A' alone without a B.
  const float three = 3.0f;
  if (cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &alpha, a, 2, &three, b, 3, c, 3) !=
      CUBLAS_STATUS_SUCCESS)
    return false;
  CHECK(cudaDeviceSynchronize());
  if (c[1] != 2 * a[2] + 3 * b[1] || c[5] != 2 * a[5] + 3 * b[5]) return false;
  if (cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &alpha, a, 2, &beta, nullptr, 3, c, 3) !=
      CUBLAS_STATUS_SUCCESS)
    return false;
  CHECK(cudaDeviceSynchronize());
  if (c[1] != 2 * a[2]) return false;
  // Two columns of [3, 2] into columns of 5, and the second of its rows back, in the order of the stream.
  const float host[] = {1, 2, 3, 4, 5, 6};
  float row[] = {0, 0};
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  if (cublasSetMatrixAsync(3, 2, sizeof(float), host, 3, c, 5, stream) != CUBLAS_STATUS_SUCCESS ||
      cublasGetVectorAsync(2, sizeof(float), c + 1, 5, row, 1, stream) != CUBLAS_STATUS_SUCCESS)
    return false;
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
  if (row[0] != 2 || row[1] != 5) return false;
  return cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS;
}
