// Tests blocks: indices, barriers, shared memory.
#include "device_array.h"
#include "semantics.h"

#include <algorithm>

// ---- Indices ------------------------------------------------------------------------------------

struct place {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};

__global__ void indices_kernel(place *places) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  place *mine = &places[block * blockDim.x * blockDim.y * blockDim.z + thread];
  mine->thread = threadIdx;
  mine->block = blockIdx;
  mine->block_dim = blockDim;
  mine->grid_dim = gridDim;
}

bool block_indices(error_text *error) {
  const dim3 grid(3, 2, 4), block(5, 4, 3);
  device_array<place> places(3 * 2 * 4 * 5 * 4 * 3);
  indices_kernel<<<grid, block>>>(places.data());
  if (!device_finished(error, "indices_kernel")) return false;
  const std::vector<place> got = places.host();
  size_t i = 0;
  for (unsigned bz = 0; bz < grid.z; bz++)
    for (unsigned by = 0; by < grid.y; by++)
      for (unsigned bx = 0; bx < grid.x; bx++)
        for (unsigned tz = 0; tz < block.z; tz++)
          for (unsigned ty = 0; ty < block.y; ty++)
            for (unsigned tx = 0; tx < block.x; tx++) {
              const place &p = got[i++];
              const bool right = p.thread.x == tx && p.thread.y == ty && p.thread.z == tz &&
                                 p.block.x == bx && p.block.y == by && p.block.z == bz &&
                                 p.block_dim.x == 5 && p.block_dim.y == 4 && p.block_dim.z == 3 &&
                                 p.grid_dim.x == 3 && p.grid_dim.y == 2 && p.grid_dim.z == 4;
              if (!right) {
                return fail(error,
                            "thread (%u,%u,%u) of block (%u,%u,%u) sees itself as (%u,%u,%u)"
                            " of (%u,%u,%u)",
                            tx, ty, tz, bx, by, bz, p.thread.x, p.thread.y, p.thread.z, p.block.x,
                            p.block.y, p.block.z);
              }
            }
  return true;
}

// ---- Barriers -----------------------------------------------------------------------------------

// In each round, a thread takes the value that its right neighbour wrote in the round before.
__global__ void rotate_kernel(int *out, int rounds) {
  __shared__ int row[2][1024];
  row[0][threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int neighbour = (threadIdx.x + 1) % blockDim.x;
    row[(round + 1) % 2][threadIdx.x] = row[round % 2][neighbour];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = row[rounds % 2][threadIdx.x];
}

bool block_barriers(error_text *error) {
  for (const int threads : {1, 31, 32, 33, 100, 256, 1024}) {
    for (const int rounds : {0, 1, 7, 100}) {
      const int blocks = 5;
      device_array<int> out(blocks * threads);
      rotate_kernel<<<blocks, threads>>>(out.data(), rounds);
      if (!device_finished(error, "rotate_kernel")) return false;
      const std::vector<int> got = out.host();
      for (int i = 0; i < blocks * threads; i++) {
        const int expected = (i % threads + rounds) % threads;
        if (got[i] != expected) {
          return fail(error, "%d threads, %d rounds: element %d is %d, not %d", threads, rounds, i,
                      got[i], expected);
        }
      }
    }
  }
  return true;
}

// The threads from `stay` on exit; the others still use the barriers.
__global__ void early_exit_kernel(int *out, int stay) {
  __shared__ int values[256];
  const int thread = threadIdx.x;
  if (thread >= stay) return;
  for (int round = 0; round < 3; round++) {
    values[thread] = thread * (round + 1);
    __syncthreads();
    if (round == 2) out[thread] = values[stay - 1 - thread];
    __syncthreads();
  }
}

bool block_barrier_after_exits(error_text *error) {
  for (const int stay : {1, 32, 50, 96, 255, 256}) {
    device_array<int> out(256);
    early_exit_kernel<<<1, 256>>>(out.data(), stay);
    if (!device_finished(error, "early_exit_kernel")) return false;
    const std::vector<int> got = out.host();
    for (int i = 0; i < 256; i++) {
      const int expected = i < stay ? 3 * (stay - 1 - i) : 0;
      if (got[i] != expected) {
        return fail(error, "%d of 256 threads stay: thread %d got %d, not %d", stay, i, got[i],
                    expected);
      }
    }
  }
  return true;
}

// The predicate of thread t of `stay` is true in round r if bit r of t is set; in round 10, in all.
__global__ void predicates_kernel(int *out, int stay) {
  const int thread = threadIdx.x;
  if (thread >= stay) return;
  for (int round = 0; round < 12; round++) {
    const int predicate = round == 10 ? thread + 1 : round == 11 ? 0 : thread >> round & 1;
    const int count = __syncthreads_count(predicate);
    const int all = __syncthreads_and(predicate);
    const int any = __syncthreads_or(predicate);
    out[round * 256 + thread] = count * 4 + (all != 0) * 2 + (any != 0);
  }
}

bool block_barrier_predicates(error_text *error) {
  for (const int stay : {1, 40, 64, 200, 256}) {
    device_array<int> out(12 * 256);
    predicates_kernel<<<1, 256>>>(out.data(), stay);
    if (!device_finished(error, "predicates_kernel")) return false;
    const std::vector<int> got = out.host();
    for (int round = 0; round < 12; round++) {
      int count = 0;
      for (int t = 0; t < stay; t++) count += round == 10 || (round < 10 && (t >> round & 1));
      const int expected = count * 4 + (count == stay) * 2 + (count > 0);
      for (int t = 0; t < stay; t++) {
        if (got[round * 256 + t] != expected) {
          return fail(error,
                      "%d threads, round %d: thread %d got %d, not %d (4 count + 2 and + or)", stay,
                      round, t, got[round * 256 + t], expected);
        }
      }
    }
  }
  return true;
}

// ---- Shared memory ------------------------------------------------------------------------------

template <typename T, int rows, int columns>
__global__ void transpose_kernel(T *out) {
  __shared__ T tile[rows][columns + 1];
  __shared__ T corner;
  const int row = threadIdx.x / columns, column = threadIdx.x % columns;
  tile[row][column] = static_cast<T>(threadIdx.x);
  if (threadIdx.x == 0) corner = static_cast<T>(blockIdx.x);
  __syncthreads();
  out[blockIdx.x * rows * columns + column * rows + row] = tile[row][column] + corner;
}

template <typename T, int rows, int columns>
bool transposes(error_text *error) {
  const int blocks = 40;
  device_array<T> out(blocks * rows * columns);
  transpose_kernel<T, rows, columns><<<blocks, rows * columns>>>(out.data());
  if (!device_finished(error, "transpose_kernel")) return false;
  const std::vector<T> got = out.host();
  for (int i = 0; i < blocks * rows * columns; i++) {
    const int block = i / (rows * columns), in_block = i % (rows * columns);
    const T expected = static_cast<T>(in_block % rows * columns + in_block / rows + block);
    if (got[i] != expected) {
      return fail(error, "%dx%d tile of %zu-byte elements: element %d is %g, not %g", rows, columns,
                  sizeof(T), i, static_cast<double>(got[i]), static_cast<double>(expected));
    }
  }
  return true;
}

// Instantiations have their own shared memory, and so have blocks that run at the same time.
bool block_static_shared(error_text *error) {
  return transposes<float, 8, 16>(error) && transposes<double, 16, 8>(error) &&
         transposes<int, 1, 64>(error) && transposes<float, 32, 32>(error);
}

__global__ void dynamic_shared_kernel(int *out, int count, int *misaligned) {
  extern __shared__ __align__(16) unsigned char memory[];
  int *values = reinterpret_cast<int *>(memory);
  if (reinterpret_cast<size_t>(memory) % 16 != 0) *misaligned = 1;
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = i * (blockIdx.x + 1);
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    out[blockIdx.x * count + i] = values[count - 1 - i];
  }
}

// A kernel's own arrays count as well.
__global__ void both_shared_kernel(int *out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = fixed[63 - threadIdx.x] + dynamic[63 - threadIdx.x];
}
static bool arrays_count(error_text *error, int most) {
  const cudaFuncAttribute size = cudaFuncAttributeMaxDynamicSharedMemorySize;
  const cudaError_t more = cudaFuncSetAttribute(both_shared_kernel, size, most - 255);
  cudaGetLastError();
  const cudaError_t all = cudaFuncSetAttribute(both_shared_kernel, size, most - 256);
  device_array<int> out(64);
  both_shared_kernel<<<1, 64, most - 256>>>(out.data());
  if (!device_finished(error, "both_shared_kernel")) return false;
  if (out.host()[5] != 2 * 58) return fail(error, "both arrays: %d, not 116", out.host()[5]);
  return (more == cudaErrorInvalidValue && all == cudaSuccess) ||
         fail(error, "beside 256 bytes: %s and %s", cudaGetErrorName(more), cudaGetErrorName(all));
}

bool block_dynamic_shared(error_text *error) {
  int most;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  if (!arrays_count(error, most)) return false;
  cudaFuncSetAttribute(dynamic_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  for (const int bytes : {4, 100, 4096, 48 * 1024, 60000, most}) {
    const int count = bytes / 4, blocks = 3;
    device_array<int> out(blocks * count), misaligned(1);
    dynamic_shared_kernel<<<blocks, 64, bytes>>>(out.data(), count, misaligned.data());
    if (!device_finished(error, "dynamic_shared_kernel")) return false;
    if (misaligned.host()[0]) return fail(error, "%d bytes: not aligned to 16", bytes);
    const std::vector<int> got = out.host();
    for (int i = 0; i < blocks * count; i++) {
      const int expected = (count - 1 - i % count) * (i / count + 1);
      if (got[i] != expected) {
        return fail(error, "%d bytes: element %d is %d, not %d", bytes, i, got[i], expected);
      }
    }
  }
  return true;
}

__global__ void place_kernel(unsigned long long *address, unsigned *shared) {
  extern __shared__ unsigned char memory[];
  *address = reinterpret_cast<size_t>(memory);
  *shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
}

// CUDA promises 16 bytes and no more, or as much as the module's declarations ask for; here it is 16.
bool block_dynamic_shared_places(error_text *error) {
  device_array<unsigned long long> address(1);
  device_array<unsigned> shared(1);
  std::vector<unsigned long long> places;
  for (int i = 0; i < 20; i++) {
    place_kernel<<<1, 1, 1024 * (i % 3)>>>(address.data(), shared.data());
    if (!device_finished(error, "place_kernel")) return false;
    const unsigned long long place = address.host()[0];
    if (place % 16 != 0 || shared.host()[0] % 2048 != place % 2048)
      return fail(error, "launch %d: address %llx is %x of shared memory", i, place,
                  shared.host()[0]);
    places.push_back(place % 1024);
  }
#ifndef __CUDACC__ // a GPU may align it further
  for (const unsigned long long place : places)
    if (place % 32 == 0)
      return fail(error, "%llx has an alignment that no kernel can count on", place);
  std::sort(places.begin(), places.end());
  const long distinct = std::unique(places.begin(), places.end()) - places.begin();
  if (distinct < 5)
    return fail(error, "20 launches have dynamic shared memory in %ld places", distinct);
#endif
  return true;
}
