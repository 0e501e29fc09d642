// What the launch rewriter makes of kernel<<<grid, block, shared, stream>>>(arguments):
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
      : kernel(kernel), name(name), grid(grid), block(block), shared_bytes(dynamic_shared_bytes) {
    (void)stream; // a launch has finished when it returns: every stream keeps its order
  }

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
    return emulator_launch(&request);
  }

private:
  void (*kernel)(Parameters...);
  const char *name;
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
};

// What the rewriter makes of `extern __shared__ T name[];`.
inline void *dynamic_shared_memory() { return emulator_current->block->dynamic_shared; }

} // namespace emulator

#endif
