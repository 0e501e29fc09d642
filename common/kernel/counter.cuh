// Counters in the workspace that are at 0 when a launch begins. Only new memory is cleared: to clear it each time with
// cudaMemsetAsync would be a second launch for each one of the kernel. So the last call sets a counter back to 0.
#ifndef COUNTER_CUH
#define COUNTER_CUH

#include "kernel.cuh"
#include "ptx.cuh"

// Clears memory of a workspace, unless it is among the last that the thread has cleared. While a graph is recorded, the
// memory is cleared by each replay, and does not count as cleared, because a launch outside of it may come first.
static inline cudaError_t clear_new_memory(void *memory, size_t bytes, cudaStream_t stream) {
  enum { REMEMBERED = 16 };
  static thread_local struct {
    const void *memory;
    size_t bytes;
  } cleared[REMEMBERED];
  static thread_local unsigned added;
  if (bytes == 0) return cudaSuccess;
  for (const auto &last : cleared)
    if (last.memory == memory && last.bytes >= bytes) return cudaSuccess;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error == cudaSuccess) error = cudaMemsetAsync(memory, 0, bytes, stream);
  if (error == cudaSuccess && capture == cudaStreamCaptureStatusNone)
    cleared[added++ % REMEMBERED] = {memory, bytes};
  return error;
}

// Returns how many of `calls` calls of a launch came before this one. The last of them sets the counter back to 0 for the
// next launch. It acquires, as add_and_acquire does (ptx.cuh).
//
// The workspace may hold anything before a launch, such as what another step has left. So a counter carries a mark in its
// upper 16 bits and in its lower 16 bits, and the count between. If something else stores 4 bytes to either half of
// the word, it overwrites a part of the mark. If the mark is not there, the word is no counter yet. The first thread to
// see this makes it one, and counts itself; threads that have added to the word before count again.
__device__ __forceinline__ unsigned count_call(unsigned long long *counter, unsigned calls) {
  constexpr unsigned long long AT_0 = 0xfff500000000c0de, ONE = 1 << 16,
                               MARK_BITS = ~0xffffffff0000;
  unsigned long long before = add_and_acquire(counter, ONE);
  while ((before & MARK_BITS) != AT_0) { // only if the word was not a counter in the launch before
    const unsigned long long seen = atomicAdd(counter, 0ULL);
    if ((seen & MARK_BITS) == AT_0)
      before = add_and_acquire(counter, ONE);
    else if (atomicCAS(counter, seen, AT_0 + ONE) == seen)
      before = AT_0;
  }
  const unsigned count = (unsigned)(before / ONE);
  if (count == calls - 1) atomicExch(counter, AT_0);
  return count;
}

#endif
