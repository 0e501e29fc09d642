// Thrust and CUB, with kernels of the program's own between their calls.
#include "feature.h"

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

struct larger {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

__global__ void add_one(int *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i]++;
}

FEATURE(thrust_vectors,
        "Thrust 1.17: host_vector, device_vector and raw_pointer_cast into a kernel of "
        "one's own; transform, reduce, scan, fill, sequence, copy, gather and the like",
        "where it is not installed: one sentence; Thrust 2 and later: one sentence; "
        "in a kernel only thrust::seq") {
  const int n = 1000;
  thrust::device_vector<int> x(n);
  thrust::sequence(x.begin(), x.end());
  add_one<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(x.data()), n);
  thrust::device_vector<int> squares(n);
  thrust::transform(x.begin(), x.end(), squares.begin(), square());
  thrust::host_vector<int> host = squares;
  const int first = squares[0];
  return first == 1 && host[n - 1] == n * n && thrust::reduce(x.begin(), x.end()) == 500500 &&
         thrust::reduce(x.begin(), x.end(), 0, larger()) == n;
}

FEATURE(thrust_sort, "sort, stable_sort, sort_by_key, unique, merge and others of its algorithms",
        "") {
  const int n = 2000;
  thrust::host_vector<int> keys(n), values(n);
  for (int i = 0; i < n; i++) keys[i] = i * 7919 % n, values[i] = i;
  thrust::device_vector<int> k = keys, v = values;
  thrust::sort_by_key(k.begin(), k.end(), v.begin());
  keys = k, values = v;
  for (int i = 0; i < n; i++)
    if (keys[i] != i || values[i] * 7919 % n != i) return false;
  return true;
}

__global__ void reduce_and_scan(const int *x, int *out) {
  using reduce = cub::BlockReduce<int, 128>;
  using scan = cub::BlockScan<int, 128>;
  using warp_reduce = cub::WarpReduce<int>;
  using warp_scan = cub::WarpScan<int>;
  __shared__ union {
    typename reduce::TempStorage reduce;
    typename scan::TempStorage scan;
    typename warp_reduce::TempStorage warp_reduce[4];
    typename warp_scan::TempStorage warp_scan[4];
  } space;
  const int t = threadIdx.x, warp = t / 32;
  const int all = reduce(space.reduce).Sum(x[t]);
  __syncthreads();
  const int most = reduce(space.reduce).Reduce(x[t], larger());
  __syncthreads();
  int before, total;
  scan(space.scan).ExclusiveSum(x[t], before, total);
  __syncthreads();
  const int of_warp = warp_reduce(space.warp_reduce[warp]).Sum(x[t], 20); // of the first 20 lanes
  __syncthreads();
  int in_warp;
  warp_scan(space.warp_scan[warp]).InclusiveSum(x[t], in_warp);
  if (t == 0) out[0] = all, out[1] = most, out[2] = of_warp;
  if (t == 127) out[3] = before, out[4] = total, out[5] = in_warp;
}

__global__ void sort_block(int *x) {
  using load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_VECTORIZE>;
  using sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ union {
    typename load::TempStorage load;
    typename store::TempStorage store;
    typename sort::TempStorage sort;
  } space;
  int items[4];
  load(space.load).Load(x, items);
  __syncthreads();
  sort(space.sort).Sort(items);
  __syncthreads();
  store(space.store).Store(x, items);
}

FEATURE(cub_blocks_and_warps,
        "CUB 1.17: WarpReduce, WarpScan, BlockReduce, BlockScan, BlockLoad, BlockStore, "
        "BlockRadixSort and the like, compiled from CUB's own headers",
        "where it is not installed: one sentence; iterators of textures") {
  int *x, *out;
  CHECK(cudaMallocManaged(&x, 256 * sizeof(int)));
  CHECK(cudaMallocManaged(&out, 6 * sizeof(int)));
  for (int i = 0; i < 256; i++) x[i] = i * 37 % 256;
  sort_block<<<1, 64>>>(x);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; i++)
    if (x[i] != i) return false;
  reduce_and_scan<<<1, 128>>>(x, out);
  CHECK(cudaDeviceSynchronize());
  return out[0] == 127 * 64 && out[1] == 127 && out[2] == 190 && out[3] == 126 * 127 / 2 &&
         out[4] == 127 * 64 && out[5] == (96 + 127) * 16;
}

FEATURE(cub_devices, "DeviceReduce, DeviceScan, DeviceRadixSort, DeviceSelect and the like", "") {
  const int n = 5000;
  float *x, *out;
  CHECK(cudaMallocManaged(&x, n * sizeof(float)));
  CHECK(cudaMallocManaged(&out, n * sizeof(float)));
  for (int i = 0; i < n; i++) x[i] = 0.5f;
  void *space = nullptr;
  size_t bytes = 0, more = 0;
  CHECK(cub::DeviceReduce::Sum(nullptr, bytes, x, out, n));
  CHECK(cub::DeviceScan::InclusiveSum(nullptr, more, x, out, n));
  bytes = more > bytes ? more : bytes;
  CHECK(cudaMalloc(&space, bytes));
  CHECK(cub::DeviceReduce::Sum(space, bytes, x, out, n));
  CHECK(cudaDeviceSynchronize());
  const float sum = out[0];
  CHECK(cub::DeviceScan::InclusiveSum(space, bytes, x, out, n));
  CHECK(cudaDeviceSynchronize());
  return sum == 0.5f * n && out[99] == 50.0f && out[n - 1] == 0.5f * n;
}
