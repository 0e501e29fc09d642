// Atomic functions (CUDA C++ Programming Guide, "Atomic Functions"). Each one lets other threads of the
// block run afterwards, so that a thread that polls a lock does not wait for ever. All are inlined, so
// that the code that accesses memory belongs to a line of the kernel's source, for reports.
#ifndef EMULATOR_DETAIL_ATOMIC_FUNCTIONS_H
#define EMULATOR_DETAIL_ATOMIC_FUNCTIONS_H

#include "emulator.h"
#include "intrinsics.h"

namespace emulator {

// The unsigned integer type with the same number of bytes.
template <int bytes>
struct word;
template <>
struct word<2> {
  typedef unsigned short __attribute__((may_alias)) type;
};
template <>
struct word<4> {
  typedef unsigned int __attribute__((may_alias)) type;
};
template <>
struct word<8> {
  typedef unsigned long long __attribute__((may_alias)) type;
};

// Replaces *address by update(*address) in one step, as other threads see it, and returns the old value. By the order of
// memory for a failure a mode that watches kernels tells their own compare-and-swap (observed/accesses.c).
template <int failure = __ATOMIC_RELAXED, typename T, typename Update>
__forceinline__ T atomic_update(T *address, Update update) {
  using bits = typename word<sizeof(T)>::type;
  bits *memory = reinterpret_cast<bits *>(address);
  bits seen = __atomic_load_n(memory, __ATOMIC_RELAXED);
  T old;
  for (;;) {
    (__builtin_memcpy)(static_cast<void *>(&old), &seen, sizeof old);
    const T updated = update(old);
    bits wanted;
    (__builtin_memcpy)(&wanted, static_cast<const void *>(&updated), sizeof wanted);
    if (__atomic_compare_exchange_n(memory, &seen, wanted, false, __ATOMIC_SEQ_CST, failure)) {
      break;
    }
  }
  emulator_yield();
  return old;
}

template <typename T>
__forceinline__ T compare_and_swap(T *address, T compare, T value) {
  return atomic_update<__ATOMIC_SEQ_CST>(address,
                                         [=](T old) { return old == compare ? value : old; });
}

// Behind an atomic operation that acquires. CUDA's atomic functions do not.
inline void acquire() { __atomic_thread_fence(__ATOMIC_ACQUIRE); }

} // namespace emulator

// Each function also has its _block and _system forms, which here are the same.
#define EMULATOR_ATOMIC(name, Type, expression)                                                    \
  __forceinline__ Type name(Type *address, Type operand) {                                         \
    return emulator::atomic_update(address,                                                        \
                                   [=](Type old) { return static_cast<Type>(expression); });       \
  }                                                                                                \
  __forceinline__ Type name##_block(Type *address, Type operand) {                                 \
    return name(address, operand);                                                                 \
  }                                                                                                \
  __forceinline__ Type name##_system(Type *address, Type operand) { return name(address, operand); }

#define EMULATOR_ATOMIC_INTEGERS(name, expression)                                                 \
  EMULATOR_ATOMIC(name, int, expression)                                                           \
  EMULATOR_ATOMIC(name, unsigned int, expression)                                                  \
  EMULATOR_ATOMIC(name, unsigned long long, expression)

// Sums wrap around, because they are added as unsigned numbers.
EMULATOR_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(operand))
EMULATOR_ATOMIC(atomicAdd, unsigned int, old + operand)
EMULATOR_ATOMIC(atomicAdd, unsigned long long, old + operand)
EMULATOR_ATOMIC(atomicAdd, float, old + operand)
EMULATOR_ATOMIC(atomicAdd, double, old + operand)
EMULATOR_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(operand))
EMULATOR_ATOMIC(atomicSub, unsigned int, old - operand)
EMULATOR_ATOMIC_INTEGERS(atomicExch, ((void)old, operand))
EMULATOR_ATOMIC(atomicExch, float, ((void)old, operand))
EMULATOR_ATOMIC_INTEGERS(atomicMin, operand < old ? operand : old)
EMULATOR_ATOMIC(atomicMin, long long, operand < old ? operand : old)
EMULATOR_ATOMIC_INTEGERS(atomicMax, old < operand ? operand : old)
EMULATOR_ATOMIC(atomicMax, long long, old < operand ? operand : old)
EMULATOR_ATOMIC_INTEGERS(atomicAnd, old &operand)
EMULATOR_ATOMIC_INTEGERS(atomicOr, old | operand)
EMULATOR_ATOMIC_INTEGERS(atomicXor, old ^ operand)
EMULATOR_ATOMIC(atomicInc, unsigned int, old >= operand ? 0 : old + 1)
EMULATOR_ATOMIC(atomicDec, unsigned int, old == 0 || old > operand ? operand : old - 1)
#undef EMULATOR_ATOMIC_INTEGERS
#undef EMULATOR_ATOMIC

#define EMULATOR_ATOMIC_CAS(Type)                                                                  \
  __forceinline__ Type atomicCAS(Type *address, Type compare, Type value) {                        \
    return emulator::compare_and_swap(address, compare, value);                                    \
  }                                                                                                \
  __forceinline__ Type atomicCAS_block(Type *address, Type compare, Type value) {                  \
    return atomicCAS(address, compare, value);                                                     \
  }                                                                                                \
  __forceinline__ Type atomicCAS_system(Type *address, Type compare, Type value) {                 \
    return atomicCAS(address, compare, value);                                                     \
  }
EMULATOR_ATOMIC_CAS(int)
EMULATOR_ATOMIC_CAS(unsigned int)
EMULATOR_ATOMIC_CAS(unsigned long long)
EMULATOR_ATOMIC_CAS(unsigned short)
#undef EMULATOR_ATOMIC_CAS

#endif
