// libcu++: the standard library's types in kernels.
#include "feature.h"

#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/variant>

__device__ cuda::std::optional<float> root(float x) {
  if (x < 0) return cuda::std::nullopt;
  return sqrtf(x);
}

__global__ void use_types(float *out) {
  const cuda::std::complex<float> i(0, 1), z = (i + 2.0f) * (i - 2.0f);
  out[0] = z.real(); // i * i - 4
  out[1] = root(9).value_or(1) + root(-1).value_or(1);
  cuda::std::variant<int, float> number = 2.5f;
  out[2] = cuda::std::holds_alternative<float>(number) ? cuda::std::get<float>(number) : 0;
  const auto [first, second] = cuda::std::make_tuple(1, cuda::std::numeric_limits<int>::digits);
  out[3] = first + second;
  size_t at = __cvta_generic_to_global(out);
  static_cast<float *>(__cvta_global_to_generic(at))[4] = 7;
}

FEATURE(
    standard_types,
    "<cuda/std/...> of libcu++: array, complex, optional, tuple, variant and others; span, bit, "
    "concepts and numbers from C++20 on",
    "") {
  float *out;
  CHECK(cudaMallocManaged(&out, 5 * sizeof(float)));
  use_types<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  return out[0] == -5 && out[1] == 4 && out[2] == 2.5f && out[3] == 32 && out[4] == 7;
}
