// Tests asynchronous copies to shared memory: sizes, zero fill, groups, and shared addresses.
#include "device_array.h"
#include "semantics.h"

#include <cuda_pipeline.h>

// ---- One copy -----------------------------------------------------------------------------------

static constexpr int THREADS = 64, SLOT = 16; // bytes

// Each thread copies `size` bytes, the last `zeros` of them zeros, and passes its neighbour's on.
template <int size>
__global__ void copy_kernel(const unsigned char *in, unsigned char *out, int zeros) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const int mine = threadIdx.x * SLOT, other = (threadIdx.x + 1) % THREADS * SLOT;
  for (int i = 0; i < SLOT; i++) shared_memory[mine + i] = 0xEE;
  __pipeline_memcpy_async(&shared_memory[mine], &in[mine], size, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = 0; i < SLOT; i++) out[other + i] = shared_memory[other + i];
}

template <int size>
bool copies_are_right(error_text *error) {
  std::vector<unsigned char> bytes(THREADS * SLOT);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = 1 + i % 200;
  device_array<unsigned char> in(bytes), out(bytes.size());
  for (int zeros = 0; zeros <= size; zeros++) {
    copy_kernel<size><<<1, THREADS, THREADS * SLOT>>>(in.data(), out.data(), zeros);
    if (!device_finished(error, "copy_kernel")) return false;
    const std::vector<unsigned char> got = out.host();
    for (size_t i = 0; i < bytes.size(); i++) {
      const int in_slot = i % SLOT;
      const int expected = in_slot < size - zeros ? bytes[i] : in_slot < size ? 0 : 0xEE;
      if (got[i] != expected) {
        return fail(error,
                    "%d bytes, %d of them zeros: byte %d of thread %zu is 0x%02x, not 0x%02x", size,
                    zeros, in_slot, i / SLOT, got[i], expected);
      }
    }
  }
  return true;
}

bool async_copy_sizes(error_text *error) {
  return copies_are_right<4>(error) && copies_are_right<8>(error) && copies_are_right<16>(error);
}

// ---- Many in flight -----------------------------------------------------------------------------

// A ring of tiles: `stages - 1` are being copied while one is read. Threads read other threads' copies.
template <int stages>
__global__ void ring_kernel(const float4 *in, float *out, int tiles) {
  __shared__ float4 tile[stages][THREADS];
  for (int t = 0; t < stages - 1; t++) {
    if (t < tiles) {
      __pipeline_memcpy_async(&tile[t][threadIdx.x], &in[t * THREADS + threadIdx.x], 16);
    }
    __pipeline_commit(); // an empty group if there is no tile left: waits count groups
  }
  float sum = 0;
  for (int t = 0; t < tiles; t++) {
    const int next = t + stages - 1;
    if (next < tiles) {
      __pipeline_memcpy_async(&tile[next % stages][threadIdx.x], &in[next * THREADS + threadIdx.x],
                              16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(stages - 1);
    __syncthreads(); // all threads' parts of tile t are there
    const float4 value = tile[t % stages][THREADS - 1 - threadIdx.x];
    sum = 0.5f * sum + value.x + 2 * value.y + 3 * value.z + 4 * value.w;
    __syncthreads(); // tile t has been read
  }
  out[threadIdx.x] = sum;
}

template <int stages>
bool ring_is_right(error_text *error) {
  for (const int tiles : {0, 1, 2, 3, 4, 5, 17}) {
    std::vector<float4> values(tiles * THREADS + 1);
    for (int i = 0; i < tiles * THREADS; i++) {
      values[i] = make_float4(i % 7, i % 11, i % 13, i % 17);
    }
    device_array<float4> in(values);
    device_array<float> out(THREADS);
    ring_kernel<stages><<<1, THREADS>>>(in.data(), out.data(), tiles);
    if (!device_finished(error, "ring_kernel")) return false;
    const std::vector<float> got = out.host();
    for (int thread = 0; thread < THREADS; thread++) {
      float expected = 0;
      for (int t = 0; t < tiles; t++) {
        const float4 value = values[t * THREADS + THREADS - 1 - thread];
        expected = 0.5f * expected + value.x + 2 * value.y + 3 * value.z + 4 * value.w;
      }
      if (!(fabsf(got[thread] - expected) <= 1e-4f * (1 + expected))) {
        return fail(error, "%d stages, %d tiles: thread %d sums %g, not %g", stages, tiles, thread,
                    got[thread], expected);
      }
    }
  }
  return true;
}

bool async_copy_stages(error_text *error) {
  return ring_is_right<1>(error) && ring_is_right<2>(error) && ring_is_right<3>(error) &&
         ring_is_right<4>(error);
}

// ---- Addresses ----------------------------------------------------------------------------------

// wrong[i] stays 0 where the i-th promise holds.
__global__ void addresses_kernel(const int *global, int *wrong) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ __align__(64) int fixed[8];
  const size_t dynamic_address = __cvta_generic_to_shared(dynamic);
  const size_t fixed_address = __cvta_generic_to_shared(&fixed[0]);
  wrong[0] = dynamic_address % 128 != 0 || fixed_address % 64 != 0;
  wrong[1] = __cvta_generic_to_shared(dynamic + 100) != dynamic_address + 100;
  wrong[2] = __cvta_generic_to_shared(&fixed[3]) != fixed_address + 12;
  wrong[3] = __cvta_shared_to_generic(dynamic_address + 7) != dynamic + 7;
  wrong[4] = __cvta_shared_to_generic(fixed_address + 4) != &fixed[1];
  wrong[5] = dynamic_address > 0xffffffff || fixed_address > 0xffffffff;
  wrong[6] = !__isShared(&fixed[7]) || !__isShared(dynamic) || __isShared(global);
}

bool async_copy_addresses(error_text *error) {
  device_array<int> wrong(7), global(1);
  addresses_kernel<<<1, 1, 256>>>(global.data(), wrong.data());
  if (!device_finished(error, "addresses_kernel")) return false;
  const std::vector<int> got = wrong.host();
  for (int i = 0; i < 7; i++) {
    if (got[i]) return fail(error, "promise %d of addresses_kernel does not hold", i);
  }
  return true;
}
