// Takes the place of Thrust's own header: how Thrust and CUB launch their kernels, which is the emulator's launch.
#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/core/alignment.h>

#include "detail/launcher.h"

THRUST_NAMESPACE_BEGIN

namespace cuda_cub {
namespace launcher {

struct triple_chevron {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;

  triple_chevron(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}

  template <typename... Parameters, typename... Arguments>
  cudaError_t doit(void (*kernel)(Parameters...), Arguments... arguments) const {
    return ::emulator::launcher(kernel, "of Thrust or CUB", grid, block, shared_bytes,
                                stream)(arguments...);
  }
};

} // namespace launcher
} // namespace cuda_cub

THRUST_NAMESPACE_END
