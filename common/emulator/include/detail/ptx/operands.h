// The registers of inline PTX: they hold bits, and each instruction says what type these bits have.
#ifndef EMULATOR_DETAIL_PTX_OPERANDS_H
#define EMULATOR_DETAIL_PTX_OPERANDS_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "emulator.h"

#include <stdint.h>
#include <type_traits>

#define EMULATOR_PTX __attribute__((always_inline)) inline

namespace emulator {
namespace ptx {

using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;
using f16 = __half;
using f16x2 = __half2;
using bf16 = __nv_bfloat16;
using bf16x2 = __nv_bfloat162;
using pred = bool;
// Types that an instruction only moves, and one that is rounded float32: each is a type of its own, so that
// instructions tell them apart.
using b8 = u8;
using b16 = u16;
using b32 = u32;
using b64 = u64;
struct tf32 {
  unsigned bits;
};
struct b128 {
  u64 low, high;
};

template <size_t bytes>
struct bits_of_size;
template <>
struct bits_of_size<1> {
  using type = unsigned char;
};
template <>
struct bits_of_size<2> {
  using type = unsigned short;
};
template <>
struct bits_of_size<4> {
  using type = unsigned int;
};
template <>
struct bits_of_size<8> {
  using type = unsigned long long;
};
template <>
struct bits_of_size<16> {
  using type = b128;
};
template <typename T>
using register_of =
    std::conditional_t<std::is_same_v<T, bool>, bool, typename bits_of_size<sizeof(T)>::type>;

// Returns the value of type T that a register holds, or a number of the text.
template <typename T, typename Register>
EMULATOR_PTX T as(const Register &bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    const auto narrow = static_cast<typename bits_of_size<sizeof(T)>::type>(bits);
    T value;
    (__builtin_memcpy)(static_cast<void *>(&value), &narrow, sizeof value);
    return value;
  }
}

// Puts a value into a register; a signed one fills a wider register with its sign.
template <typename T, typename Register>
EMULATOR_PTX void set(Register &destination, const T &value) {
  if constexpr (std::is_integral_v<T>) {
    destination = static_cast<Register>(value);
  } else {
    typename bits_of_size<sizeof(T)>::type bits;
    (__builtin_memcpy)(&bits, static_cast<const void *>(&value), sizeof bits);
    destination = static_cast<Register>(bits);
  }
}

// These convert a C++ expression to a register of an asm statement, and a register back to a variable.
template <typename Register, typename T>
EMULATOR_PTX Register from(const T &value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<Register>(value);
  } else {
    static_assert(sizeof(T) <= sizeof(Register), "the asm statement's operand is too wide");
    Register bits = 0;
    (__builtin_memcpy)(&bits, static_cast<const void *>(&value), sizeof value);
    return bits;
  }
}
// A pointer is passed by value, because it may be __restrict__, and an array is one as well.
template <typename Register, typename T>
EMULATOR_PTX Register from(T *pointer) {
  return static_cast<Register>(reinterpret_cast<uintptr_t>(pointer));
}
template <typename Register, typename T>
EMULATOR_PTX void to(const Register &bits, T &variable) {
  if constexpr (std::is_integral_v<T>) {
    variable = static_cast<T>(bits);
  } else {
    static_assert(sizeof(T) <= sizeof bits,
                  "the asm statement's result is narrower than its variable");
    (__builtin_memcpy)(static_cast<void *>(&variable), &bits, sizeof variable);
  }
}

// The operands of a product, which are variables that it uses later, or values that it knows at once.
template <typename T>
struct given_value {
  T value;
  operator T() const { return value; }
};
template <typename T>
EMULATOR_PTX T &in_place(T &variable) {
  return variable;
}
template <typename T>
EMULATOR_PTX given_value<T> in_place(const T &&value) {
  return {value};
}

// Takes a result that is not wanted, which PTX writes as _.
struct sink_register {
  template <typename T>
  const sink_register &operator=(const T &) const {
    return *this;
  }
  operator unsigned() const { return 0; }
};
inline sink_register sink;
template <typename T>
EMULATOR_PTX void set(sink_register &, const T &) {}

} // namespace ptx
} // namespace emulator

#endif
