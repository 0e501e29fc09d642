// A kernel and the arguments of a launch. CUDA gives a kernel the bytes of its arguments: their copy constructors and
// destructors run on the host alone, once for a launch and not for each thread (CUDA C++ Programming Guide, "__global__
// Function Argument Processing"). So a class that frees memory when it is destroyed can be passed by value.
#ifndef EMULATOR_DETAIL_KERNEL_CALL_H
#define EMULATOR_DETAIL_KERNEL_CALL_H

#include <memory>
#include <string.h>
#include <tuple>
#include <type_traits>

namespace emulator {

// The PTX instruction exit throws this, and the function that runs the thread catches it.
struct thread_exit {};

// A function gets an object whose copying or destruction is more than bytes by its address, and its caller destroys it
// (Itanium C++ ABI, "Non-Trivial Parameters").
template <typename T>
constexpr bool PASSED_BY_ADDRESS =
    !std::is_reference_v<T> &&
    !(std::is_trivially_copy_constructible_v<T> && std::is_trivially_move_constructible_v<T> &&
      std::is_trivially_destructible_v<T>);

template <typename T, bool = PASSED_BY_ADDRESS<T>>
struct kernel_argument {
  using passed = T;
  T value;
  explicit kernel_argument(const T &given) : value(given) {}
  const T &of_thread() const { return value; }
};

// Bytes that nothing destroys. A thread may change them, so it has its own.
template <typename T>
struct kernel_argument<T, true> {
  using passed = void *;
  alignas(T) unsigned char bytes[sizeof(T)];
  explicit kernel_argument(const T &given) { memcpy(bytes, std::addressof(given), sizeof bytes); }
  kernel_argument of_thread() const { return *this; }
  operator void *() { return bytes; }
};

template <typename... Parameters>
struct kernel_call {
  void (*kernel)(Parameters...);
  std::tuple<kernel_argument<Parameters>...> arguments;

  // A thread runs this, with the address of a call.
  static void run(void *packed) {
    const auto *call = static_cast<const kernel_call *>(packed);
    using function = void (*)(typename kernel_argument<Parameters>::passed...);
    const auto kernel = reinterpret_cast<function>(reinterpret_cast<void *>(call->kernel));
    try {
      std::apply([=](const auto &...shared) { kernel(shared.of_thread()...); }, call->arguments);
    } catch (const thread_exit &) {
    }
  }
};

} // namespace emulator

#endif
