// Copies of any size by the threads of a group, in pieces that cp.async can copy.
#ifndef EMULATOR_CUDA_DETAIL_COPY_H
#define EMULATOR_CUDA_DETAIL_COPY_H

#include "async_copy.h"
#include "cuda_pipeline_primitives.h"
#include "cuda_runtime.h"

#include <string.h>

namespace emulator {

// The largest piece of 16, 8 or 4 bytes that both addresses and the size are multiples of; 0 where there is none.
inline size_t copied_piece(const void *destination, const void *source, size_t bytes) {
  const uintptr_t all =
      reinterpret_cast<uintptr_t>(destination) | reinterpret_cast<uintptr_t>(source) | bytes;
  return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
}

template <typename Group>
void copy_by(const Group &group, void *destination, const void *source, size_t bytes,
             const char *file, int line) {
  const size_t rank = static_cast<size_t>(group.thread_rank());
  const size_t threads = static_cast<size_t>(group.size());
  char *to = static_cast<char *>(destination);
  const char *from = static_cast<const char *>(source);
  const size_t piece = copied_piece(destination, source, bytes);
  const bool asynchronous =
      piece > 0 && emulator_is_shared(destination) && !emulator_is_shared(source);
  if (asynchronous) {
    const emulator_site site = {"memcpy_async()", file, line};
    for (size_t at = rank * piece; at < bytes; at += threads * piece)
      emulator_async_copy(to + at, from + at, piece, 0, &site);
  } else {
    for (size_t at = rank; at < bytes; at += threads) to[at] = from[at];
  }
}

// A thread by itself.
struct one_thread {
  unsigned thread_rank() const { return 0; }
  unsigned size() const { return 1; }
};

} // namespace emulator

namespace cuda {

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};

// A number of bytes, with an alignment that the caller promises.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
  constexpr operator size_t() const { return value; }
};

} // namespace cuda

#endif
