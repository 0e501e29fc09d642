// Kernels that are compiled with -fsanitize=thread call these functions before each load and store. They
// are linked without the sanitizer's runtime, so the calls arrive here and are passed to the observer.
// The names and their meaning are the compiler's (LLVM, compiler-rt/lib/tsan/rtl/tsan_interface.h and
// tsan_interface_atomic.h; GCC's are the same, gcc/sanitizer.def).
#define _GNU_SOURCE
#include "block.h"
#include "observer.h"

#include <stdatomic.h>

#define CALLER __builtin_return_address(0)

// ---- Loads and stores ---------------------------------------------------------------------------

#define ACCESSES_OF(bytes)                                                                         \
  EMULATOR_API void __tsan_read##bytes(void *address) {                                            \
    observer_access((uintptr_t)address, bytes, OBSERVED_READ, CALLER);                             \
  }                                                                                                \
  EMULATOR_API void __tsan_write##bytes(void *address) {                                           \
    observer_access((uintptr_t)address, bytes, OBSERVED_WRITE, CALLER);                            \
  }
ACCESSES_OF(1)
ACCESSES_OF(2)
ACCESSES_OF(4)
ACCESSES_OF(8)
ACCESSES_OF(16)

// Accesses of types that need no alignment.
#define UNALIGNED_ACCESSES_OF(bytes)                                                               \
  EMULATOR_API void __tsan_unaligned_read##bytes(void *address) {                                  \
    observer_access((uintptr_t)address, bytes, OBSERVED_READ, CALLER);                             \
  }                                                                                                \
  EMULATOR_API void __tsan_unaligned_write##bytes(void *address) {                                 \
    observer_access((uintptr_t)address, bytes, OBSERVED_WRITE, CALLER);                            \
  }
UNALIGNED_ACCESSES_OF(2)
UNALIGNED_ACCESSES_OF(4)
UNALIGNED_ACCESSES_OF(8)
UNALIGNED_ACCESSES_OF(16)

// Accesses of whole structures.
EMULATOR_API void __tsan_read_range(void *address, size_t bytes) {
  observer_access((uintptr_t)address, bytes, OBSERVED_STRUCT_READ, CALLER);
}
EMULATOR_API void __tsan_write_range(void *address, size_t bytes) {
  observer_access((uintptr_t)address, bytes, OBSERVED_WRITE, CALLER);
}
EMULATOR_API void __tsan_vptr_read(void *address) {
  observer_access((uintptr_t)address, sizeof(void *), OBSERVED_READ, CALLER);
}
EMULATOR_API void __tsan_vptr_update(void *address, void *value) {
  (void)value;
  observer_access((uintptr_t)address, sizeof(void *), OBSERVED_WRITE, CALLER);
}

// ---- Atomic operations --------------------------------------------------------------------------

// These functions also perform the operation. The stand-in headers use a load, which is only a
// first guess and is not reported, and then compare-and-exchange (detail/atomic_functions.h). If there is no memory,
// the load faults: `guessing` lets the report name the kernel's line.
// Memory orders are ignored, since the strongest one is always right. But where these functions stand for another atomic
// operation than compare-and-swap, the headers ask for no order if they fail.
#define ATOMICS_OF(bits, word)                                                                     \
  EMULATOR_API word __tsan_atomic##bits##_load(const volatile word *address, int order) {          \
    (void)order;                                                                                   \
    worker *worker = current_worker;                                                               \
    if (worker == NULL) return __atomic_load_n(address, __ATOMIC_SEQ_CST);                         \
    worker->guessing = CALLER;                                                                     \
    atomic_signal_fence(memory_order_seq_cst);                                                     \
    const word seen = __atomic_load_n(address, __ATOMIC_SEQ_CST);                                  \
    atomic_signal_fence(memory_order_seq_cst);                                                     \
    worker->guessing = NULL;                                                                       \
    return seen;                                                                                   \
  }                                                                                                \
  EMULATOR_API void __tsan_atomic##bits##_store(volatile word *address, word value, int order) {   \
    (void)order;                                                                                   \
    observer_access((uintptr_t)address, sizeof(word), OBSERVED_ATOMIC_STORE, CALLER);              \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  EMULATOR_API int __tsan_atomic##bits##_compare_exchange_strong(                                  \
      volatile word *address, word *expected, word value, int order, int failure) {                \
    (void)order;                                                                                   \
    observer_access((uintptr_t)address, sizeof(word),                                              \
                    failure == __ATOMIC_RELAXED ? OBSERVED_ATOMIC : OBSERVED_COMPARE, CALLER);     \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,          \
                                       __ATOMIC_SEQ_CST);                                          \
  }
ATOMICS_OF(8, uint8_t)
ATOMICS_OF(16, uint16_t)
ATOMICS_OF(32, uint32_t)
ATOMICS_OF(64, uint64_t)

// The other ones, which programs use in their host code (std::atomic, __sync_fetch_and_add).
#define ATOMIC_CHANGE(bits, word, name, builtin)                                                   \
  EMULATOR_API word __tsan_atomic##bits##_##name(volatile word *address, word value, int order) {  \
    (void)order;                                                                                   \
    observer_access((uintptr_t)address, sizeof(word), OBSERVED_ATOMIC, CALLER);                    \
    return builtin(address, value, __ATOMIC_SEQ_CST);                                              \
  }
#define ATOMIC_CHANGES(bits, word)                                                                 \
  ATOMIC_CHANGE(bits, word, exchange, __atomic_exchange_n)                                         \
  ATOMIC_CHANGE(bits, word, fetch_add, __atomic_fetch_add)                                         \
  ATOMIC_CHANGE(bits, word, fetch_sub, __atomic_fetch_sub)                                         \
  ATOMIC_CHANGE(bits, word, fetch_and, __atomic_fetch_and)                                         \
  ATOMIC_CHANGE(bits, word, fetch_or, __atomic_fetch_or)                                           \
  ATOMIC_CHANGE(bits, word, fetch_xor, __atomic_fetch_xor)                                         \
  ATOMIC_CHANGE(bits, word, fetch_nand, __atomic_fetch_nand)                                       \
  EMULATOR_API int __tsan_atomic##bits##_compare_exchange_weak(                                    \
      volatile word *address, word *expected, word value, int order, int failure) {                \
    return __tsan_atomic##bits##_compare_exchange_strong(address, expected, value, order,          \
                                                         failure);                                 \
  }                                                                                                \
  EMULATOR_API word __tsan_atomic##bits##_compare_exchange_val(                                    \
      volatile word *address, word expected, word value, int order, int failure) {                 \
    __tsan_atomic##bits##_compare_exchange_strong(address, &expected, value, order, failure);      \
    return expected;                                                                               \
  }
ATOMIC_CHANGES(8, uint8_t)
ATOMIC_CHANGES(16, uint16_t)
ATOMIC_CHANGES(32, uint32_t)
ATOMIC_CHANGES(64, uint64_t)

// A fence for the block alone has a weaker order (detail/synchronization.h), and so has the part of an atomic operation
// that acquires (detail/atomic_functions.h).
EMULATOR_API void __tsan_atomic_thread_fence(int order) {
  worker *worker = current_worker;
  if (worker != NULL && order == __ATOMIC_SEQ_CST) observer_fence(worker);
  if (worker != NULL && order == __ATOMIC_ACQUIRE) observer_acquire(worker);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// ---- Calls that the observer ignores ------------------------------------------------------------

EMULATOR_API void __tsan_atomic_signal_fence(int order) { (void)order; }
EMULATOR_API void __tsan_init(void) {}
EMULATOR_API void __tsan_func_entry(void *caller) { (void)caller; }
EMULATOR_API void __tsan_func_exit(void) {}
