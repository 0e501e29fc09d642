// The launch rewriter turns kernel<<<grid, block, shared, stream>>>(arguments) into
// ::emulator::launcher(kernel, "kernel", grid, block, shared, stream)(arguments).
#ifndef EMULATOR_DETAIL_LAUNCHER_H
#define EMULATOR_DETAIL_LAUNCHER_H

#include "emulator.h"

#include <tuple>

namespace emulator {

template <typename... Parameters>
class launcher {
public:
  launcher(void (*kernel)(Parameters...), const char *name, dim3 grid, dim3 block,
           size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr)
      : kernel(kernel), name(name), grid(grid), block(block), shared_bytes(dynamic_shared_bytes),
        stream(stream) {}

  // Arguments are converted to the kernel's parameters once, here, as in an ordinary call; each
  // thread gets its own copy.
  cudaError_t operator()(Parameters... arguments) const {
    struct call {
      void (*kernel)(Parameters...);
      std::tuple<Parameters...> arguments;
    } call = {kernel, std::tuple<Parameters...>(arguments...)};
    emulator_launch_request request = {};
    request.kernel = reinterpret_cast<const void *>(kernel);
    request.name = name;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = shared_bytes;
    request.body = [](void *pointer) {
      const auto *thread_call = static_cast<const struct call *>(pointer);
      std::apply(thread_call->kernel, thread_call->arguments);
    };
    request.arguments = &call;
    request.arguments_bytes = sizeof call;
    request.stream = stream;
    return emulator_launch(&request);
  }

private:
  void (*kernel)(Parameters...);
  const char *name;
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// The rewriter turns `extern __shared__ T name[];`, with or without __align__(128), into calls of these.
// A module that has such a declaration registers its alignment when it is loaded, before any launch.
inline void *dynamic_shared_memory() { return emulator_current->block->dynamic_shared; }

template <size_t ALIGNMENT>
struct declared_alignment {
  static_assert(ALIGNMENT <= EMULATOR_SHARED_ALIGNMENT_MAX && (ALIGNMENT & (ALIGNMENT - 1)) == 0,
                "an alignment of shared memory is a power of two, up to 1024");
  static const bool known;
};
template <size_t ALIGNMENT>
const bool declared_alignment<ALIGNMENT>::known =
    emulator_align_dynamic_shared(&declared_alignment<ALIGNMENT>::known, ALIGNMENT);

template <size_t FIRST, size_t... OTHERS>
inline void *dynamic_shared_memory() {
  (void)&declared_alignment<FIRST>::known;
  ((void)&declared_alignment<OTHERS>::known, ...);
  return dynamic_shared_memory();
}
template <typename Aligned> // alignas(float4)
inline void *dynamic_shared_memory() {
  return dynamic_shared_memory<alignof(Aligned)>();
}

} // namespace emulator

#endif
