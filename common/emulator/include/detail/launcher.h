// The launch rewriter turns kernel<<<grid, block, shared, stream>>>(arguments) into
// ::emulator::launcher(kernel, "kernel", grid, block, shared, stream)(arguments).
#ifndef EMULATOR_DETAIL_LAUNCHER_H
#define EMULATOR_DETAIL_LAUNCHER_H

#include "emulator.h"
#include "kernel_call.h"

#include <cxxabi.h>
#include <string>
#include <tuple>
#include <type_traits>

namespace emulator {

inline char *demangle(const char *mangled) {
  return abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
}

// The name of a kernel that is known by its address alone.
template <typename... Parameters>
const char *kernel_name(void (*kernel)(Parameters...)) {
  return emulator_kernel_name(reinterpret_cast<const void *>(kernel), demangle);
}

// The kernel of a launch, and the configuration between <<< and >>>.
struct launch_configuration {
  const void *kernel;
  const char *name;
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
  const cudaLaunchConfig_t *attributes = nullptr; // of cudaLaunchKernelEx

  // Each thread calls `body` with the address of a copy of the arguments.
  cudaError_t launch(void (*body)(void *), void *arguments, size_t bytes) const {
    emulator_launch_request request = {};
    request.cluster = dim3(0, 0, 0);
    request.kernel = kernel;
    request.name = name;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = shared_bytes;
    request.body = body;
    request.arguments = arguments;
    request.arguments_bytes = bytes;
    request.stream = stream;
    if (attributes != nullptr) {
      const cudaError_t error = emulator_launch_attributes(attributes, &request);
      if (error != cudaSuccess) return error;
    }
    return emulator_launch(&request);
  }
};

template <typename... Parameters>
class launcher {
public:
  launcher(void (*kernel)(Parameters...), const char *name, dim3 grid, dim3 block,
           size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr)
      : kernel(kernel), configuration{reinterpret_cast<const void *>(kernel),
                                      emulator_launch_name(reinterpret_cast<const void *>(kernel),
                                                           name, demangle),
                                      grid,
                                      block,
                                      dynamic_shared_bytes,
                                      stream} {}
  launcher(void (*kernel)(Parameters...), const cudaLaunchConfig_t *config)
      : launcher(kernel, kernel_name(kernel), config->gridDim, config->blockDim,
                 config->dynamicSmemBytes, config->stream) {
    configuration.attributes = config;
  }

  // Arguments are converted to the kernel's parameters once, here, as in an ordinary call.
  cudaError_t operator()(Parameters... arguments) const { return launch(arguments...); }

  cudaError_t launch(const Parameters &...arguments) const {
    using call = kernel_call<Parameters...>;
    call made = {kernel, {kernel_argument<Parameters>(arguments)...}};
    return configuration.launch(call::run, &made, sizeof made);
  }

private:
  void (*kernel)(Parameters...);
  launch_configuration configuration;
};

// The blocks of a kernel's clusters, as __cluster_dims__ says (rewrite/cluster_dims.h); the runtime reads the three numbers.
struct cluster_blocks {
  unsigned x = 1, y = 1, z = 1;
};
constexpr bool cluster_has_blocks(cluster_blocks blocks) {
  return blocks.x > 0 && blocks.y > 0 && blocks.z > 0;
}

// The rewriter puts this at the beginning of a kernel for each of its __grid_constant__ parameters
// (rewrite/grid_constant.h). Only those that may hold tensor maps matter, which have this alignment.
template <typename... Parameters>
inline void grid_constant(const Parameters &...parameters) {
  constexpr size_t MAP_ALIGNMENT = 64;
  ((alignof(Parameters) >= MAP_ALIGNMENT
        ? emulator_grid_constant(__builtin_addressof(parameters), sizeof parameters)
        : void()),
   ...);
}

// The type of a kernel's twin (rewrite/kernel_twin.h).
template <auto Kernel>
struct kernel_constant {
  static constexpr auto value = Kernel;
};

// gdb knows the name emulator_current before the program runs only where the program uses it, and its breakpoints
// ask for the thread (scripts/workshop/gdb.sh).
[[gnu::used]] inline const emulator_thread *current_thread() { return emulator_current; }

// Which side of a function for both runs (rewrite/two_sides.h)?
inline bool in_kernel() { return emulator_current != nullptr; }

// A launch that gives all arguments, or leaves out the last ones, whose defaults `Call` fills in.
template <typename Call, typename... Parameters>
class deduced_launcher {
public:
  deduced_launcher(Call call, void (*kernel)(Parameters...), const char *name, dim3 grid,
                   dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream)
      : call(call), whole(kernel, name, grid, block, dynamic_shared_bytes, stream),
        configuration{reinterpret_cast<const void *>(kernel),
                      name,
                      grid,
                      block,
                      dynamic_shared_bytes,
                      stream} {}

  cudaError_t operator()(Parameters... arguments) const { return whole.launch(arguments...); }

  template <typename... Arguments,
            std::enable_if_t<(sizeof...(Arguments) < sizeof...(Parameters)), int> = 0>
  cudaError_t operator()(Arguments &&...arguments) const {
    struct thread_call {
      Call call;
      std::tuple<std::decay_t<Arguments>...> values;
    } passed = {call, {static_cast<Arguments &&>(arguments)...}};
    const auto body = [](void *pointer) {
      thread_call own = *static_cast<const thread_call *>(pointer); // of this thread
      try {
        std::apply(own.call, own.values);
      } catch (const thread_exit &) {
      }
    };
    return configuration.launch(body, &passed, sizeof passed);
  }

private:
  Call call;
  launcher<Parameters...> whole;
  launch_configuration configuration;
};

// The kernel's name with its template arguments, "scale<float, 4>", from the compiler's words for the function.
template <auto Kernel>
const char *kernel_words(const char *as_written) {
  const char *function = __PRETTY_FUNCTION__;
  static const std::string words = [=]() -> std::string {
    const std::string all = function;
    const size_t name = all.find("Kernel = ");
    if (name == std::string::npos) return as_written;
    std::string found = all.substr(name + 9, all.rfind(']') - name - 9);
    while (!found.empty() && (found[0] == '(' || found[0] == '&' || found[0] == ' '))
      found.erase(0, 1);
    if (!found.empty() && found.back() == ')' && found.find('(') == std::string::npos)
      found.pop_back();
    return found.find('<') == std::string::npos ? as_written : found;
  }();
  return words.c_str();
}

// `Constant` is what the twin's call returns.
template <typename Constant, typename Call>
auto deduce(Call call, const char *name, dim3 grid, dim3 block, size_t dynamic_shared_bytes = 0,
            cudaStream_t stream = nullptr) {
  return deduced_launcher(call, Constant::value, kernel_words<Constant::value>(name), grid, block,
                          dynamic_shared_bytes, stream);
}

// The same where the arguments may be looked at only once: `Twin` is a function of them.
template <typename Twin, typename Call>
auto deduce_later(Twin twin, Call call, const char *name, dim3 grid, dim3 block,
                  size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  return [=](auto &&...arguments) {
    using constant = decltype(twin(static_cast<decltype(arguments)>(arguments)...));
    return deduce<constant>(call, name, grid, block, dynamic_shared_bytes,
                            stream)(static_cast<decltype(arguments)>(arguments)...);
  };
}

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

// An `extern __shared__ T name[];` outside of functions. It stands for the array of the block that runs.
template <typename T>
struct dynamic_array {
  operator T *() const { return static_cast<T *>(dynamic_shared_memory()); }
  template <typename U>
  explicit operator U *() const {
    return static_cast<U *>(dynamic_shared_memory());
  }
  template <typename U>
  explicit operator U() const {
    return reinterpret_cast<U>(dynamic_shared_memory());
  }
  T *operator&() const { return *this; }
};

} // namespace emulator

#endif
