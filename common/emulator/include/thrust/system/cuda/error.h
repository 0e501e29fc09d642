// Takes the place of Thrust's own <thrust/system/cuda/error.h>, which names errors of textures, OpenGL and old drivers that
// the emulator does not have. A code keeps its number and its text (cudaGetErrorString).
#pragma once

#include "cuda_runtime_api.h"

#include <thrust/detail/config.h>
#include <thrust/system/error_code.h>

#include <string>

THRUST_NAMESPACE_BEGIN

namespace system {
namespace cuda {
namespace errc {
enum errc_t {
  success = cudaSuccess,
  invalid_value = cudaErrorInvalidValue,
  memory_allocation = cudaErrorMemoryAllocation,
  initialization_error = cudaErrorInitializationError,
  invalid_configuration = cudaErrorInvalidConfiguration,
  invalid_device = cudaErrorInvalidDevice,
  invalid_device_function = cudaErrorInvalidDeviceFunction,
  invalid_device_pointer = cudaErrorInvalidDevicePointer,
  launch_failure = cudaErrorLaunchFailure,
  launch_timeout = cudaErrorLaunchTimeout,
  launch_out_of_resources = cudaErrorLaunchOutOfResources,
  no_device = cudaErrorNoDevice,
  not_ready = cudaErrorNotReady,
  assert_triggered = cudaErrorAssert,
  unknown = cudaErrorUnknown
};
} // namespace errc
} // namespace cuda

namespace cuda_cub {
namespace errc = system::cuda::errc;
namespace detail {
class error_category : public system::error_category {
public:
  const char *name() const override { return "cuda"; }
  std::string message(int code) const override {
    const cudaError_t error = static_cast<cudaError_t>(code);
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
  }
  error_condition default_error_condition(int code) const override {
    return error_condition(code, *this);
  }
};
} // namespace detail
} // namespace cuda_cub

inline const error_category &cuda_category() {
  static const cuda_cub::detail::error_category category;
  return category;
}
template <>
struct is_error_code_enum<cuda::errc::errc_t> : thrust::detail::true_type {};
inline error_code make_error_code(cuda::errc::errc_t error) {
  return error_code(static_cast<int>(error), cuda_category());
}
inline error_condition make_error_condition(cuda::errc::errc_t error) {
  return error_condition(static_cast<int>(error), cuda_category());
}
} // namespace system

namespace cuda_cub {
namespace errc = system::cuda::errc;
}
namespace cuda {
namespace errc = system::cuda::errc;
}
using system::cuda_category;

THRUST_NAMESPACE_END
