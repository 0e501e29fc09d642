#include "tensor_faults.h"

#include "ptx.cuh"

#include <cuda_pipeline.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

int fault_line, other_fault_line;
#define MARK       fault_line = __LINE__
#define MARK_OTHER other_fault_line = __LINE__

using A_fragment = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using B_fragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// ---- Matrices -----------------------------------------------------------------------------------

__global__ void load_kernel(int first_byte, int ldm) {
  extern __shared__ unsigned char memory[];
  A_fragment a;
  MARK, wmma::load_matrix_sync(a, reinterpret_cast<half *>(memory + first_byte), ldm);
}
void fault_matrix_pointer(void) { load_kernel<<<1, 64, 8192>>>(0x82, 72); }
void fault_matrix_place(void) { load_kernel<<<1, 64, 8192>>>(64, 64); }

template <typename Element>
__global__ void load_kernel_of() {
  __shared__ __align__(32) Element tile[16][16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major> a;
  wmma::load_matrix_sync(a, &tile[0][0], 16);
}
void load_fp16(void) { load_kernel_of<half><<<1, 32>>>(); }
void load_bf16(void) { load_kernel_of<__nv_bfloat16><<<1, 32>>>(); }

__global__ void static_rows_kernel() {
  __shared__ __align__(32) half K_smem[32][72];
  A_fragment a;
  MARK, wmma::load_matrix_sync(a, &K_smem[1][0], 72);
}
void fault_matrix_every_second(void) { static_rows_kernel<<<1, 64>>>(); }

__global__ void static_load_kernel() {
  __shared__ half K_smem[16][65];
  B_fragment b;
  MARK, wmma::load_matrix_sync(b, &K_smem[0][0], 65);
}
void fault_matrix_stride(void) { static_load_kernel<<<1, 32>>>(); }

__global__ void store_kernel(float *out, int ldm) {
  accumulator c;
  wmma::fill_fragment(c, 0.0f);
  MARK, wmma::store_matrix_sync(out, c, ldm, wmma::mem_col_major);
}
static float *device_floats(int count) {
  float *data;
  cudaMalloc(&data, count * sizeof(float));
  return data;
}
void fault_matrix_store(void) { store_kernel<<<dim3(1, 2), 32>>>(device_floats(4096), 66); }
void fault_matrix_store_overlaps(void) { store_kernel<<<1, 32>>>(device_floats(4096), 12); }

__global__ void repeated_kernel(int ldm, bool by_columns) {
  __shared__ __align__(32) float factor[16 * 16];
  accumulator c;
  MARK, wmma::load_matrix_sync(c, factor, ldm,
                               by_columns ? wmma::mem_col_major : wmma::mem_row_major);
}
void fault_matrix_columns_overlap(void) { repeated_kernel<<<1, 32>>>(0, true); }
void fault_matrix_rows_overlap(void) { repeated_kernel<<<1, 32>>>(8, false); }

// The shortest distances that are allowed.
__global__ void flat_kernel() {
  __shared__ __align__(32) half A_smem[8 * 16], B_smem[32 * 16];
  __shared__ __align__(32) float C_smem[8 * 32];
  wmma::fragment<wmma::matrix_a, 8, 32, 16, half, wmma::col_major> a;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 8, 32, 16, float> c;
  wmma::load_matrix_sync(a, A_smem, 8);
  wmma::load_matrix_sync(b, B_smem, 32);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(C_smem, c, 8, wmma::mem_col_major);
}
void matrix_shortest_lines(void) { flat_kernel<<<1, 32>>>(); }
void fault_matrix_past_end(void) { store_kernel<<<1, 32>>>(device_floats(1024), 68); }

__global__ void missing_lane_kernel() {
  accumulator c;
  A_fragment a;
  B_fragment b;
  if (threadIdx.x != 7) {
    MARK, wmma::mma_sync(c, a, b, c);
  } else {
    MARK_OTHER, __syncthreads();
  }
}
void fault_matrix_missing_lane(void) { missing_lane_kernel<<<1, 32>>>(); }
void fault_matrix_short_warp(void) { store_kernel<<<1, 48>>>(device_floats(256), 16); }

// Lane 9 gives another pointer, leading dimension or layout.
__global__ void different_kernel(int bytes, int ldm, bool layout) {
  __shared__ __align__(32) unsigned char memory[8192];
  const bool other = threadIdx.x % 32 == 9;
  accumulator c;
  MARK, wmma::load_matrix_sync(c, reinterpret_cast<float *>(memory + (other ? bytes : 0)),
                               other ? ldm : 32,
                               other && layout ? wmma::mem_col_major : wmma::mem_row_major);
}
void fault_matrix_pointers_differ(void) { different_kernel<<<1, 64>>>(64, 32, false); }
void fault_matrix_ldm_differs(void) { different_kernel<<<1, 64>>>(0, 16, false); }
void fault_matrix_layout_differs(void) { different_kernel<<<1, 64>>>(0, 32, true); }

__global__ void two_lines_kernel() {
  accumulator c;
  A_fragment a;
  B_fragment b;
  if (threadIdx.x < 20) {
    MARK, wmma::mma_sync(c, a, b, c);
  } else {
    MARK_OTHER, wmma::mma_sync(c, a, b, c);
  }
}
void fault_matrix_lines_differ(void) { two_lines_kernel<<<1, 32>>>(); }

// ---- ldmatrix and mma.sync ----------------------------------------------------------------------

__global__ void rows_kernel(char *global, int bytes, int last_lane) {
  extern __shared__ char memory[];
  unsigned fragments[4];
  char *row = memory + 16 * threadIdx.x;
  if (threadIdx.x == 3) row = (global ? global : memory) + bytes;
  if (threadIdx.x == 7 && last_lane == 6) return;
  MARK, load_matrices(fragments, row);
}
void fault_rows_misaligned(void) { rows_kernel<<<1, 32, 512>>>(nullptr, 8, 31); }
void fault_rows_in_global(void) {
  rows_kernel<<<1, 32, 512>>>(reinterpret_cast<char *>(device_floats(64)), 16, 31);
}
void fault_rows_past_end(void) { rows_kernel<<<1, 32, 512>>>(nullptr, 512, 31); }
void fault_rows_across_end(void) { rows_kernel<<<1, 32, 520>>>(nullptr, 512, 31); }
void fault_rows_missing_lane(void) { rows_kernel<<<1, 32, 512>>>(nullptr, 48, 6); }

__global__ void registers_kernel(unsigned first_bf16) {
  const unsigned a[4] = {};
  const unsigned b[2] = {};
  float c[4] = {};
  if (threadIdx.x < first_bf16) {
    MARK, multiply_fragments<half>(c, a, b);
  } else {
    MARK_OTHER, multiply_fragments<__nv_bfloat16>(c, a, b);
  }
}
void fault_product_short_warp(void) { registers_kernel<<<1, 16>>>(16); }
void fault_product_types_differ(void) { registers_kernel<<<1, 32>>>(20); }
void product_fp16(void) { registers_kernel<<<1, 32>>>(32); }

// ---- Asynchronous copies ------------------------------------------------------------------------

__global__ void copy_kernel(const char *in, int to, int from, int size, int zeros) {
  extern __shared__ char memory[];
  if (threadIdx.x == 1) MARK, __pipeline_memcpy_async(memory + to, in + from, size, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
static const char *device_bytes(int count) {
  char *data;
  cudaMalloc(&data, count);
  cudaMemset(data, 1, count);
  return data;
}
void fault_copy_size(void) { copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0, 0, 12, 0); }
void fault_copy_two_bytes(void) { copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0, 0, 2, 0); }
void fault_copy_zeros(void) { copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0, 0, 8, 9); }
void fault_copy_destination(void) {
  copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0x82, 0, 16, 0);
}
void fault_copy_source(void) { copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0, 130, 4, 0); }
void fault_copy_past_shared(void) { copy_kernel<<<1, 32, 100>>>(device_bytes(4096), 96, 0, 16, 0); }
void fault_copy_past_end(void) { copy_kernel<<<1, 32, 1024>>>(device_bytes(4096), 0, 4096, 16, 0); }

__global__ void odd_copy_kernel(char *in, int kind) {
  extern __shared__ char memory[];
  __shared__ char Q_smem[64], K_smem[64];
  Q_smem[0] = K_smem[0] = 0;
  if (kind == 0) {
    __shared__ char K_smem[64]; // a second one: its symbol has a number behind the name
    MARK, __pipeline_memcpy_async(K_smem + 8, in, 16);
  }
  if (kind == 1) MARK, __pipeline_memcpy_async(in, in + 16, 16);
  if (kind == 2) MARK, __pipeline_memcpy_async(memory, K_smem + Q_smem[0], 16);
  if (kind == 3) MARK, in[0] = static_cast<char>(__cvta_generic_to_shared(in));
  if (kind == 4) in[0] = static_cast<char *>(__cvta_shared_to_generic(1 << 20))[0];
}
static void odd_copy(int kind) {
  odd_copy_kernel<<<1, 1, 64>>>(const_cast<char *>(device_bytes(256)), kind);
}
void fault_copy_static_destination(void) { odd_copy(0); }
void fault_copy_to_global(void) { odd_copy(1); }
void fault_copy_from_shared(void) { odd_copy(2); }
void fault_shared_address_of_global(void) { odd_copy(3); }
void fault_global_address_of_shared(void) { odd_copy(4); }

// The slots of shared memory hold 5 until a copy of in[0] arrives, which is 1, 2 or 3 by then.
__global__ void early_kernel(volatile int *in, float *seen) {
  __shared__ volatile int slot[4];
  const int *source = const_cast<const int *>(in);
  auto destination = [](int i) { return const_cast<int *>(&slot[i]); };
  auto value = [](int i) { return __int_as_float(slot[i]); };
  slot[0] = slot[1] = slot[2] = slot[3] = __float_as_int(5.0f);
  in[0] = __float_as_int(1.0f);
  __pipeline_memcpy_async(destination(0), source, 4);
  seen[0] = value(0); // before anything
  __pipeline_wait_prior(0);
  seen[1] = value(0); // not committed
  __pipeline_commit();
  __pipeline_memcpy_async(destination(1), source, 4);
  __pipeline_commit();
  __pipeline_commit();
  in[0] = __float_as_int(2.0f);
  __pipeline_wait_prior(2);
  seen[2] = value(0); // the source as it is at the wait
  seen[3] = value(1); // of the newest two groups
  in[0] = __float_as_int(3.0f);
  __pipeline_memcpy_async(destination(2), source, 4);
  __pipeline_wait_prior(0);
  seen[4] = value(1);
  seen[5] = value(2); // not committed
  in[0] = __float_as_int(4.0f);
  seen[6] = value(0); // stays as copied
  __pipeline_memcpy_async(destination(3), nullptr, 4, 4);
  seen[7] = value(3); // zeros come at the wait as well
  __pipeline_commit();
  __pipeline_wait_prior(9);
  seen[8] = value(2); // nothing is that old
  __pipeline_wait_prior(0);
  seen[9] = value(2);
  seen[10] = value(3);
  __pipeline_memcpy_async(destination(0), source, 4);
  seen[11] = value(0); // poisoned again
}
void seen_of_async_copies(float *seen) {
  int *in;
  cudaMalloc(&in, sizeof *in);
  float *device_seen = device_floats(SEEN);
  early_kernel<<<1, 1>>>(in, device_seen);
  cudaMemcpy(seen, device_seen, SEEN * sizeof *seen, cudaMemcpyDeviceToHost);
}

// ---- Without fault ------------------------------------------------------------------------------

__global__ void healthy_kernel(float *out) {
  accumulator c;
  wmma::fill_fragment(c, 2.0f);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
bool healthy_launch(void) {
  float *out, got[256] = {0};
  cudaMalloc(&out, sizeof got);
  healthy_kernel<<<1, 32>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  const bool right = cudaGetLastError() == cudaSuccess && got[0] == 2 && got[255] == 2;
  cudaFree(out);
  return right;
}

__global__ void unfilled_kernel(int *readable) {
  A_fragment a;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> h;
  accumulator c;
  for (int i = 0; i < 16; i++) atomicAdd(readable, !__hisnan(a.x[i]));
  for (int i = 0; i < 8; i++) atomicAdd(readable, !isnan(c.x[i]) + !__hisnan(h.x[i]));
}
int readable_fragment_elements(void) {
  int *readable, got = -1;
  cudaMalloc(&readable, sizeof got);
  cudaMemset(readable, 0, sizeof got);
  unfilled_kernel<<<1, 32>>>(readable);
  cudaMemcpy(&got, readable, sizeof got, cudaMemcpyDeviceToHost);
  return got;
}

__global__ void counted_kernel(const float4 *in) {
  __shared__ float4 slot[64];
  A_fragment a;
  B_fragment b;
  accumulator c;
  wmma::fill_fragment(a, half(1.0f));
  wmma::fill_fragment(b, half(1.0f));
  wmma::fill_fragment(c, 0.0f);
  for (int i = 0; i < 5; i++) wmma::mma_sync(c, a, b, c);
  for (int i = 0; i < 32; i++) {
    if (i == 31) __pipeline_wait_prior(0);
    __pipeline_memcpy_async(&slot[threadIdx.x], &in[i], 16, i >= 30 ? 12 : 0);
    __pipeline_commit();
  }
}
void launch_counted(void) {
  counted_kernel<<<3, 64>>>(reinterpret_cast<const float4 *>(device_floats(4 * 32)));
}
