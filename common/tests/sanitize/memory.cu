// Accesses outside of memory, misaligned accesses, and reads of
// uninitialised memory. The line that a report must name has the mark "<-".
#include "faults.h"

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <vector>

static float *device_floats(int count, bool written = true) {
  float *data;
  cudaMalloc(&data, count * sizeof(float));
  if (written) cudaMemset(data, 0, count * sizeof(float));
  return data;
}

// ---- Outside of memory --------------------------------------------------------------------------

__global__ void sum_kernel(const float *in, float *out, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += in[i]; // <- sum
  out[threadIdx.x] = sum;
}
void past_the_end(bool broken) {
  sum_kernel<<<1, 32>>>(device_floats(75), device_floats(32), 75 + broken);
}
void null_pointer(bool broken) {
  sum_kernel<<<1, 32>>>(broken ? nullptr : device_floats(75), device_floats(32), 75);
}
void host_pointer(bool broken) {
  static std::vector<float> host(75);
  sum_kernel<<<1, 32>>>(broken ? host.data() : device_floats(75), device_floats(32), 75);
}
void freed_memory(bool broken) {
  float *in = device_floats(75);
  if (broken) cudaFree(in);
  sum_kernel<<<1, 32>>>(in, device_floats(32), 75);
}

// Memory that the driver API maps into the middle of a range of addresses, of which nothing else is open.
static float *mapped_floats(size_t *count) {
  CUmemAllocationProp wanted = {};
  CUmemGenericAllocationHandle memory;
  CUdeviceptr range = 0;
  size_t chunk = 0;
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuInit(0);
  cuMemGetAllocationGranularity(&chunk, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  cuMemAddressReserve(&range, 3 * chunk, 0, 0, 0);
  cuMemCreate(&memory, chunk, &wanted, 0);
  cuMemMap(range + chunk, chunk, 0, memory, 0);
  const CUmemAccessDesc access = {wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  cuMemSetAccess(range + chunk, chunk, &access, 1);
  cuMemsetD32(range + chunk, 0, chunk / sizeof(float));
  *count = chunk / sizeof(float);
  return reinterpret_cast<float *>(range + chunk);
}
void past_mapped_memory(bool broken) {
  size_t count;
  const float *end = mapped_floats(&count) + count;
  sum_kernel<<<1, 32>>>(end - 75, device_floats(32), 75 + broken);
}

__global__ void shift_kernel(float *data, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= first) data[i - 1] = 1; // <- shift
}
void before_the_start(bool broken) { shift_kernel<<<2, 32>>>(device_floats(64), broken ? 0 : 1); }

__global__ void pair_kernel(const float *in, float *out, int offset) {
  const float2 pair = *reinterpret_cast<const float2 *>(&in[offset]); // <- pair
  out[0] = pair.x + pair.y;
}
void straddles_the_end(bool broken) {
  pair_kernel<<<1, 1>>>(device_floats(75), device_floats(1), broken ? 74 : 72);
}

// Writes past the first array, into the gap before the next one, and past the last array.
__global__ void static_shared_kernel(float *out, int count, bool lower) {
  __shared__ float first[20], second[20];
  // The compiler sees no bound of these pointers.
  float *pointer = (&first[0] < &second[0]) == lower ? first : second;
  float *other = pointer == first ? second : first;
  for (int i = threadIdx.x; i < count; i += blockDim.x) pointer[i] = 1; // <- static
  for (int i = threadIdx.x; i < 20; i += blockDim.x) other[i] = 2;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x % 20] + second[threadIdx.x % 20];
}
void past_first_shared(bool broken) {
  static_shared_kernel<<<1, 32>>>(device_floats(32), 20 + broken, true);
}
void past_last_shared(bool broken) {
  static_shared_kernel<<<1, 32>>>(device_floats(32), 20 + broken, false);
}

__global__ void dynamic_shared_kernel(float *out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1; // <- dynamic
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}
void past_dynamic_shared(bool broken) {
  dynamic_shared_kernel<<<1, 32, (32 - broken) * sizeof(float)>>>(device_floats(32));
}

__global__ void index_kernel(float *out, int columns) {
  __shared__ float tile[4][8];
  for (int i = threadIdx.x; i < 4 * columns; i += 32) {
    const int row = i / columns, column = i % columns;
    tile[row][column] = 1; // <- index
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 8][threadIdx.x % 8];
}
void index_past_row(bool broken) { index_kernel<<<1, 32>>>(device_floats(32), 8 + broken); }

__global__ void negative_kernel(float *out, int back) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x >= 1)
    out[threadIdx.x] = tile[static_cast<int>(threadIdx.x) - back]; // <- negative
}
void negative_index(bool broken) { negative_kernel<<<1, 32>>>(device_floats(32), 1 + broken); }

__global__ void half_index_kernel(float *out, int count) {
  __shared__ half row[32];
  row[threadIdx.x] = 1;
  if (threadIdx.x == 0) row[count] = 1; // <- half index
  __syncthreads();
  out[threadIdx.x] = __half2float(row[31 - threadIdx.x]);
}
void index_of_half(bool broken) {
  half_index_kernel<<<1, 32>>>(device_floats(32), broken ? 33 : 0);
}

__device__ float plus_one(const float &number) { return number + 1; }
__global__ void member_kernel(float *out, int count) {
  float2 own[2] = {};
  for (int i = 0; i < count; i++) out[threadIdx.x] = plus_one(own[i].x); // <- member
}
void index_of_member(bool broken) { member_kernel<<<1, 32>>>(device_floats(32), 2 + broken); }

// ---- Misaligned accesses ------------------------------------------------------------------------

template <int PAD>
__global__ void padded_kernel(float *out) {
  __shared__ half tile[4][64 + PAD];
  if (threadIdx.x < 4) {
    for (int column = 0; column < 64; column += 8) {
      *reinterpret_cast<uint4 *>(&tile[threadIdx.x][column]) = make_uint4(0, 0, 0, 0); // <- padded
    }
  }
  __syncthreads();
  out[threadIdx.x] = __half2float(tile[threadIdx.x % 4][threadIdx.x]);
}
void misaligned_shared(bool broken) {
  if (broken) {
    padded_kernel<1><<<1, 32>>>(device_floats(32));
  } else {
    padded_kernel<8><<<1, 32>>>(device_floats(32));
  }
}
void misaligned_global(bool broken) {
  pair_kernel<<<1, 1>>>(device_floats(75), device_floats(1), broken ? 1 : 2);
}

// ---- Uninitialised memory -----------------------------------------------------------------------

// The first block writes all elements. That does not help the second one.
__global__ void halves_kernel(float *out, unsigned written) {
  __shared__ float tile[32];
  if (blockIdx.x == 0 || threadIdx.x < written) tile[threadIdx.x] = 1;
  __syncthreads();
  out[32 * blockIdx.x + threadIdx.x] = tile[31 - threadIdx.x]; // <- halves
}
void unwritten_shared(bool broken) {
  halves_kernel<<<2, 32>>>(device_floats(64), broken ? 31 : 32);
}
void unwritten_global(bool broken) {
  sum_kernel<<<1, 32>>>(device_floats(75, !broken), device_floats(32), 75);
}

// The destination of a copy on the device is initialised exactly where its source was.
void unwritten_copied(bool broken) {
  float *to = device_floats(75);
  cudaMemcpy(to, device_floats(75, !broken), 75 * sizeof(float), cudaMemcpyDeviceToDevice);
  sum_kernel<<<1, 32>>>(to, device_floats(32), 75);
}

__global__ void tile_kernel(float *out, int rows) {
  using namespace nvcuda;
  __shared__ half tile[16][16];
  for (int i = threadIdx.x; i < rows * 16; i += 32) tile[i / 16][i % 16] = __float2half(1);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(a, &tile[0][0], 16); // <- tile
  wmma::fill_fragment(b, __float2half(1));
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
void unwritten_tile(bool broken) { tile_kernel<<<1, 32>>>(device_floats(256), 16 - broken); }

// An atomic operation reads what is there.
template <bool right>
__global__ void unwritten_atomic_kernel(int *out) {
  __shared__ int sum;
  if (right && threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1); // <- unwritten atomic
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
void unwritten_atomic(bool broken) {
  int *out;
  cudaMalloc(&out, sizeof *out);
  if (broken) unwritten_atomic_kernel<false><<<1, 32>>>(out);
  if (!broken) unwritten_atomic_kernel<true><<<1, 32>>>(out);
}

// The word begins in an array of 6 bytes and ends behind it.
template <bool right>
__global__ void straddling_kernel(unsigned *out) {
  __shared__ __align__(4) unsigned short first[3], second[3];
  if (threadIdx.x < 3) first[threadIdx.x] = second[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0)
    *out = *(const unsigned *)(first + (right ? 0 : 2)) + second[1]; // <- straddling
}
void straddles_first_shared(bool broken) {
  unsigned *out;
  cudaMalloc(&out, sizeof *out);
  if (broken) straddling_kernel<false><<<1, 32>>>(out);
  if (!broken) straddling_kernel<true><<<1, 32>>>(out);
}

// The last word ends a byte behind dynamic shared memory.
template <bool right>
__global__ void straddling_end_kernel(unsigned *out) {
  extern __shared__ __align__(4) unsigned short words[];
  for (int i = threadIdx.x; i < 33; i += 32) words[i] = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = *(const unsigned *)(words + (right ? 30 : 32)); // <- straddling end
}
void straddles_dynamic_shared(bool broken) {
  unsigned *out;
  cudaMalloc(&out, sizeof *out);
  if (broken) straddling_end_kernel<false><<<1, 32, 67>>>(out);
  if (!broken) straddling_end_kernel<true><<<1, 32, 66>>>(out);
}

// The memory behind the array belongs to another kernel, of which a block of this one has none.
template <int kernel>
__global__ void lonely_kernel(float *out, int count) {
  __shared__ float lonely[64];
  float *pointer = &lonely[0];
  for (int i = threadIdx.x; i < count; i += 32) pointer[i] = kernel; // <- lonely
  __syncthreads();
  out[threadIdx.x] = lonely[63 - threadIdx.x];
}
void past_into_other_kernel(bool broken) {
  lonely_kernel<0><<<1, 32>>>(device_floats(32), 64 + broken);
  if (!broken) lonely_kernel<1><<<1, 32>>>(device_floats(32), 64);
  if (!broken) lonely_kernel<2><<<1, 32>>>(device_floats(32), 64);
}

struct padded { // which no member fills, and which a copy reads
  char mark;    // three bytes
  int x;
  float row[3]; // four bytes
  double y;
};
struct marked {
  int x;
  bool mark; // three bytes
};
__global__ void write_padded(padded *all, marked *small, bool whole) {
  padded &own = all[threadIdx.x];
  own.mark = small[threadIdx.x].mark = true;
  own.x = own.y = 3;
  if (whole) own.row[0] = own.row[1] = own.row[2] = small[threadIdx.x].x = 1;
}
__global__ void copy_padded(const padded *from, padded *to, const marked *small, marked *to_small) {
  to_small[threadIdx.x] = small[threadIdx.x]; // <- marked copy
  const padded own = from[threadIdx.x];       // <- padded copy
  to[31 - threadIdx.x] = own;
}
void unwritten_member(bool broken) {
  padded *all;
  marked *small;
  cudaMalloc(&all, 64 * sizeof *all);
  cudaMalloc(&small, 64 * sizeof *small);
  write_padded<<<1, 32>>>(all, small, !broken);
  copy_padded<<<1, 32>>>(all, all + 32, small, small + 32);
}

struct triple { // whose size says that none of its bytes is padding
  float x, y;
  int last;
};
__global__ void copy_triples(triple *out, unsigned unset) {
  __shared__ triple rows[32];
  triple &own = rows[threadIdx.x];
  own.x = own.y = 1;
  if (threadIdx.x != unset) own.last = 2;
  __syncthreads();
  out[threadIdx.x] = rows[31 - threadIdx.x]; // <- triple copy
}
void unwritten_end(bool broken) {
  triple *out;
  cudaMalloc(&out, 32 * sizeof *out);
  copy_triples<<<1, 32>>>(out, broken ? 5 : 32);
}
