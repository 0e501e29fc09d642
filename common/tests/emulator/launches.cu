// Tests launches and the host functions around them: errors, arguments, symbols, streams, events, copies.
#include "device_array.h"
#include "semantics.h"

#include <thread>

static bool expect_error(error_text *error, const char *what, cudaError_t got, cudaError_t wanted) {
  return got == wanted ||
         fail(error, "%s: %s, not %s", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
}

// ---- Launch errors ------------------------------------------------------------------------------

__global__ void count_kernel(int *count) { atomicAdd(count, 1); }

__global__ void count_shared_kernel(int *count) {
  extern __shared__ unsigned char memory[];
  memory[threadIdx.x] = 1;
  atomicAdd(count, memory[threadIdx.x]);
}

bool launches_errors(error_text *error) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  const unsigned x = device.maxThreadsDim[0], z = device.maxThreadsDim[2];
  const unsigned grid_y = device.maxGridSize[1], grid_z = device.maxGridSize[2];
  struct {
    const char *what;
    dim3 grid, block;
    size_t shared;
    cudaError_t wanted;
  } cases[] = {
      {"an ordinary launch", 2, 64, 0, cudaSuccess},
      {"the largest block", 1, x, 0, cudaSuccess},
      {"a block of z = 64", 1, dim3(1, 1, z), 0, cudaSuccess},
      {"a grid of y = 65535", dim3(1, grid_y), 1, 0, cudaSuccess},
      {"no thread", 1, 0, 0, cudaErrorInvalidValue},
      {"one thread too many", 1, x + 1, 0, cudaErrorInvalidValue},
      {"a product of too many threads", 1, dim3(x / 2, 3), 0, cudaErrorInvalidValue},
      {"a product of one thread too many", 1, dim3(41, x / 41 + 1), 0, cudaErrorInvalidValue},
      {"a grid of x = 2^31", device.maxGridSize[0] + 1u, 1, 0, cudaErrorInvalidValue},
      {"a block of z = 65", 1, dim3(1, 1, z + 1), 0, cudaErrorInvalidValue},
      {"no block", 0, 1, 0, cudaErrorInvalidValue},
      {"a grid of y = 0", dim3(1, 0), 1, 0, cudaErrorInvalidValue},
      {"a grid of y = 65536", dim3(1, grid_y + 1), 1, 0, cudaErrorInvalidValue},
      {"a grid of z = 65536", dim3(1, 1, grid_z + 1), 1, 0, cudaErrorInvalidValue},
      {"all shared memory without opting in", 1, 64, device.sharedMemPerBlock, cudaSuccess},
      {"more than that", 1, 64, device.sharedMemPerBlock + 16, cudaErrorInvalidValue},
  };
  device_array<int> count(1);
  int expected = 0;
  for (const auto &c : cases) {
    if (c.shared > 0) {
      count_shared_kernel<<<c.grid, c.block, c.shared>>>(count.data());
    } else {
      count_kernel<<<c.grid, c.block>>>(count.data());
    }
    if (!expect_error(error, c.what, cudaPeekAtLastError(), c.wanted)) return false;
    if (!expect_error(error, c.what, cudaGetLastError(), c.wanted)) return false;
    if (!expect_error(error, "the error is kept", cudaGetLastError(), cudaSuccess)) return false;
    if (!expect_error(error, "after it", cudaDeviceSynchronize(), cudaSuccess)) return false;
    if (c.wanted == cudaSuccess) {
      expected += c.grid.x * c.grid.y * c.grid.z * c.block.x * c.block.y * c.block.z;
    }
    const int got = count.host()[0];
    if (got != expected) return fail(error, "%s: %d threads ran, not %d", c.what, got, expected);
  }

  const int most = static_cast<int>(device.sharedMemPerBlockOptin);
  const cudaFuncAttribute attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  if (!expect_error(error, "opting in to too much",
                    cudaFuncSetAttribute(count_shared_kernel, attribute, most + 1),
                    cudaErrorInvalidValue)) {
    return false;
  }
  cudaGetLastError();
  if (!expect_error(error, "opting in", cudaFuncSetAttribute(count_shared_kernel, attribute, most),
                    cudaSuccess)) {
    return false;
  }
  count_shared_kernel<<<1, 64, most>>>(count.data());
  if (!expect_error(error, "a launch after opting in", cudaGetLastError(), cudaSuccess))
    return false;
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_shared_kernel, 64, most);
  return blocks == 1 || fail(error, "%d blocks with all shared memory fit, not 1", blocks);
}

// ---- Static shared memory -----------------------------------------------------------------------

template <typename T, int count>
__global__ void static_shared_kernel(T *out) {
  extern __shared__ unsigned char dynamic[];
  __shared__ T first[count];
  __shared__ T second[count];
  // Only the launch knows the indices: a compiler drops the part of an array that is not used.
  first[threadIdx.x % count] = second[(threadIdx.x + 5) % count] = static_cast<T>(blockDim.x);
  __syncthreads();
  dynamic[0] = 1;
  *out = first[threadIdx.x % count] + second[(threadIdx.x + 5) % count] + dynamic[0];
}

template <typename T, int count>
static bool static_shared(error_text *error, size_t bytes) {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, static_shared_kernel<T, count>);
  if (attributes.sharedSizeBytes != bytes) {
    return fail(error, "%zu bytes of static shared memory, not %zu", attributes.sharedSizeBytes,
                bytes);
  }
  device_array<T> out(1);
  static_shared_kernel<T, count><<<1, 1, 49152 - bytes>>>(out.data());
  if (!expect_error(error, "48 KiB, static and dynamic", cudaGetLastError(), cudaSuccess)) {
    return false;
  }
  static_shared_kernel<T, count><<<1, 1, 49152 - bytes + 16>>>(out.data());
  return expect_error(error, "more than 48 KiB", cudaGetLastError(), cudaErrorInvalidValue);
}

// Static shared memory counts against the same limit as dynamic, for each instantiation by itself.
bool launches_static_shared(error_text *error) {
  return static_shared<float, 1024>(error, 8192) && static_shared<double, 2048>(error, 32768);
}

// ---- Arguments ----------------------------------------------------------------------------------

struct parameters {
  double scale;
  int offset;
  short table[5];
};

// Arguments are passed by value: no thread sees the changes that another makes to its copy.
__global__ void arguments_kernel(float *out, parameters p, const __grid_constant__ parameters q,
                                 long wide, bool flag, const void *nothing) {
  p.offset += threadIdx.x;
  p.table[2] += p.offset;
  out[threadIdx.x] =
      p.table[2] * p.scale + q.offset + wide + flag + (nothing == nullptr ? 0.5f : 0);
}

template <typename Operation>
__global__ void apply_kernel(float *values, Operation operation) {
  values[threadIdx.x] = operation(values[threadIdx.x]);
}

struct doubled {
  __device__ float operator()(float x) const { return 2 * x; }
};

bool launches_arguments(error_text *error) {
  device_array<float> out(64);
  parameters p = {2.0, 10, {1, 2, 3, 4, 5}};
  arguments_kernel<<<1, 64>>>(out.data(), p, p, 'a', 7 > 3, NULL);
  apply_kernel<doubled><<<1, 64>>>(out.data(), doubled());
  if (!device_finished(error, "arguments_kernel")) return false;
  void *again[] = {nullptr, &p, &p, nullptr, nullptr, nullptr};
  float *data = out.data();
  long wide = 97;
  bool flag = true;
  const void *nothing = nullptr;
  again[0] = &data, again[3] = &wide, again[4] = &flag, again[5] = &nothing;
  for (int round = 0; round < 2; round++) {
    const std::vector<float> got = out.host();
    for (int i = 0; i < 64; i++) {
      const float once = 2.0f * (3 + 10 + i) + 10 + 97 + 1 + 0.5f;
      const float expected = round == 0 ? 2 * once : once;
      if (got[i] != expected) {
        return fail(error, "round %d, thread %d: %g, not %g", round, i, got[i], expected);
      }
    }
    cudaLaunchKernel(arguments_kernel, dim3(1), dim3(64), again, 0, nullptr);
    if (!device_finished(error, "cudaLaunchKernel")) return false;
  }
  return true;
}

// ---- Symbols ------------------------------------------------------------------------------------

__constant__ float coefficients[4];
__device__ int counters[3] = {5, 6, 7};
__device__ volatile int last;

__global__ void symbols_kernel(float x) {
  float value = 0;
  for (int i = 3; i >= 0; i--) value = value * x + coefficients[i];
  atomicAdd(&counters[threadIdx.x], static_cast<int>(value));
  if (threadIdx.x == 2) last += counters[2];
}

bool launches_symbols(error_text *error) {
  const float upload[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(coefficients, upload, sizeof upload);
  const int one = 1;
  cudaMemcpyToSymbol(last, &one, sizeof one);
  const float replaced = 10;
  cudaMemcpyToSymbol(coefficients, &replaced, sizeof replaced, 2 * sizeof(float));
  symbols_kernel<<<1, 3>>>(2.0f);
  if (!device_finished(error, "symbols_kernel")) return false;
  int got[3];
  cudaMemcpyFromSymbol(got, counters, sizeof got);
  const int value = 1 + 2 * 2 + 10 * 4 + 4 * 8;
  if (got[0] != 5 + value || got[1] != 6 + value || got[2] != 7 + value) {
    return fail(error, "counters are %d, %d, %d", got[0], got[1], got[2]);
  }
  int seen = 0;
  cudaMemcpyFromSymbol(&seen, last, sizeof seen);
  if (seen != got[2] + 1) return fail(error, "last is %d", seen);
  void *address;
  size_t bytes;
  cudaGetSymbolAddress(&address, counters);
  cudaGetSymbolSize(&bytes, counters);
  if (bytes != sizeof got) return fail(error, "counters has %zu bytes", bytes);
  if (!expect_error(error, "copy by the address",
                    cudaMemcpy(got, address, bytes, cudaMemcpyDeviceToHost), cudaSuccess)) {
    return false;
  }
  return expect_error(error, "a copy past the variable's end",
                      cudaMemcpyToSymbol(coefficients, upload, sizeof upload, 4),
                      cudaErrorInvalidValue) &&
         expect_error(error, "left for cudaGetLastError", cudaGetLastError(),
                      cudaErrorInvalidValue);
}

// ---- Streams, events, host threads --------------------------------------------------------------

__global__ void scale_kernel(int *value, int factor, int summand) {
  *value = *value * factor + summand;
}

bool launches_streams_and_events(error_text *error) {
  cudaStream_t first, second;
  cudaEvent_t start, end;
  int least, greatest;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStreamCreate(&first);
  cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, greatest);
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&end, cudaEventDefault);
  device_array<int> value(1);
  cudaDeviceSynchronize();
  cudaEventRecord(start, first);
  scale_kernel<<<1, 1, 0, first>>>(value.data(), 2, 3);
  cudaEventRecord(end, first);
  cudaStreamWaitEvent(second, end);
  scale_kernel<<<1, 1, 0, second>>>(value.data(), 5, 1);
  int got = 0;
  cudaMemcpyAsync(&got, value.data(), sizeof got, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  float milliseconds = -1;
  unsigned flags;
  int priority;
  bool done =
      expect_error(error, "the event is done", cudaEventQuery(end), cudaSuccess) &&
      expect_error(error, "elapsed", cudaEventElapsedTime(&milliseconds, start, end),
                   cudaSuccess) &&
      expect_error(error, "flags", cudaStreamGetFlags(second, &flags), cudaSuccess) &&
      expect_error(error, "priority", cudaStreamGetPriority(second, &priority), cudaSuccess);
  if (done && got != 16) done = fail(error, "two streams in turn made %d, not 16", got);
  if (done && !(milliseconds >= 0 && milliseconds < 60000)) {
    done = fail(error, "%g ms between events", milliseconds);
  }
  if (done && (flags != cudaStreamNonBlocking || priority != greatest)) {
    done = fail(error, "stream flags %u, priority %d", flags, priority);
  }
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return done;
}

bool launches_from_host_threads(error_text *error) {
  device_array<int> counts(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&counts, t] {
      for (int i = 0; i < 50; i++) count_kernel<<<7, 33>>>(counts.data() + t);
      cudaDeviceSynchronize();
    });
  }
  for (std::thread &thread : threads) thread.join();
  const std::vector<int> got = counts.host();
  for (int t = 0; t < 4; t++) {
    if (got[t] != 50 * 7 * 33) return fail(error, "host thread %d counted %d", t, got[t]);
  }
  return true;
}

// ---- Copies -------------------------------------------------------------------------------------

bool launches_copies(error_text *error) {
  std::vector<int> host(100), back(100);
  for (int i = 0; i < 100; i++) host[i] = i * i;
  device_array<int> a(100), b(100);
  cudaMemcpy(a.data(), host.data(), 400, cudaMemcpyHostToDevice);
  cudaMemcpy(b.data(), a.data(), 400, cudaMemcpyDeviceToDevice);
  cudaMemset(b.data() + 50, 0, 40);
  cudaMemcpy(back.data(), b.data(), 400, cudaMemcpyDefault);
  for (int i = 0; i < 100; i++) {
    const int expected = i >= 50 && i < 60 ? 0 : i * i;
    if (back[i] != expected) return fail(error, "element %d is %d, not %d", i, back[i], expected);
  }
  int *pinned;
  cudaMallocHost(&pinned, 400);
  cudaMemcpy(pinned, a.data(), 400, cudaMemcpyDeviceToHost);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, pinned);
  bool done = pinned[99] == 99 * 99 || fail(error, "pinned memory got %d", pinned[99]);
  if (attributes.type != cudaMemoryTypeHost) done = fail(error, "pinned memory is not known");
  cudaPointerGetAttributes(&attributes, a.data() + 7);
  if (attributes.type != cudaMemoryTypeDevice) done = fail(error, "device memory is not known");
  cudaPointerGetAttributes(&attributes, host.data());
  if (attributes.type != cudaMemoryTypeUnregistered) done = fail(error, "host memory is known");
  cudaFreeHost(pinned);
  return done;
}
