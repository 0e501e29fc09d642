// Loads, stores, atomics and copies (PTX ISA 9.0, 9.7.9 and 9.7.13). An address of shared memory is a number of 32
// bits, as on a GPU; every other one is a pointer. In the shared memory of another block of the cluster the upper 8 bits
// are 1 and the block's rank, and in a block's own they are 0.
#ifndef EMULATOR_DETAIL_PTX_MEMORY_H
#define EMULATOR_DETAIL_PTX_MEMORY_H

#include "../atomic_functions.h"
#include "../synchronization.h"
#include "async_copy.h"
#include "conversion.h"
#include "operands.h"

namespace emulator {
namespace ptx {

EMULATOR_PTX char *global(u64 address) { return reinterpret_cast<char *>(address); }
EMULATOR_PTX char *shared(u64 address) {
  const u32 offset = static_cast<u32>(address) & 0xffffff, block = static_cast<u32>(address) >> 24;
  void *own = emulator_shared_pointer(offset);
  if (block == 0) return static_cast<char *>(own);
  const emulator_site site = {"an access to shared::cluster", __builtin_FILE(), __builtin_LINE()};
  return static_cast<char *>(emulator_cluster_map(own, block - 1, &site));
}

template <typename T>
using memory = typename bits_of_size<sizeof(T)>::type __attribute__((may_alias));

// A vector is one access of its full width, as on a GPU.
template <typename T, int count>
struct whole_vector {
  typedef register_of<T> type __attribute__((vector_size(sizeof(T) * count), may_alias));
};

// A GPU carries out an access of 128 bits as a single one. Here it is two of 64: the upper half is stored last and loaded
// first, so a thread that finds a new upper half finds the lower one that belongs to it. Atomic functions let other threads
// run while one polls.
template <typename D>
EMULATOR_PTX void load_halves(const char *address, D &d) {
  u64 *half = reinterpret_cast<u64 *>(const_cast<char *>(address));
  const u64 high = atomicAdd(half + 1, 0ull);
  set(d, b128{atomicAdd(half, 0ull), high});
}
EMULATOR_PTX void store_halves(char *address, const b128 &a) {
  u64 *half = reinterpret_cast<u64 *>(address);
  atomicExch(half, a.low);
  atomicExch(half + 1, a.high);
}

template <typename T, typename D>
EMULATOR_PTX void load(const char *address, D &d) {
  if constexpr (std::is_same_v<T, b128>)
    load_halves(address, d);
  else
    set(d, as<T>(*reinterpret_cast<const memory<T> *>(address)));
}
template <typename T, typename... D>
EMULATOR_PTX void load(const char *address, D &...d) {
  const auto all = *reinterpret_cast<const typename whole_vector<T, sizeof...(D)>::type *>(address);
  int i = 0;
  (set(d, as<T>(all[i++])), ...);
}
template <typename T, typename A>
EMULATOR_PTX void store(char *address, const A &a) {
  if constexpr (std::is_same_v<T, b128>) {
    store_halves(address, a);
  } else {
    register_of<T> bits;
    set(bits, as<T>(a));
    *reinterpret_cast<memory<T> *>(address) = bits;
  }
}
template <typename T, typename... A>
EMULATOR_PTX void store_all(char *address, const A &...a) {
  using vector = typename whole_vector<T, sizeof...(A)>::type;
  vector all;
  int i = 0;
  ((all[i++] = as<register_of<T>>(a)), ...);
  *reinterpret_cast<vector *>(address) = all;
}

#define EMULATOR_PTX_MEMORY(state, place)                                                          \
  template <typename T, typename D>                                                                \
  EMULATOR_PTX void ld_##state(D &d, u64 address) {                                                \
    load<T>(place(address), d);                                                                    \
  }                                                                                                \
  template <typename T, typename D0, typename D1>                                                  \
  EMULATOR_PTX void ld_##state(D0 &d0, D1 &d1, u64 address) {                                      \
    load<T>(place(address), d0, d1);                                                               \
  }                                                                                                \
  template <typename T, typename D0, typename D1, typename D2, typename D3>                        \
  EMULATOR_PTX void ld_##state(D0 &d0, D1 &d1, D2 &d2, D3 &d3, u64 address) {                      \
    load<T>(place(address), d0, d1, d2, d3);                                                       \
  }                                                                                                \
  template <typename T, typename A>                                                                \
  EMULATOR_PTX void st_##state(u64 address, const A &a) {                                          \
    store<T>(place(address), a);                                                                   \
  }                                                                                                \
  template <typename T, typename A0, typename A1, typename... A>                                   \
  EMULATOR_PTX void st_##state(u64 address, const A0 &a0, const A1 &a1, const A &...a) {           \
    store_all<T>(place(address), a0, a1, a...);                                                    \
  }
EMULATOR_PTX_MEMORY(, global)
EMULATOR_PTX_MEMORY(shared_, shared)
EMULATOR_PTX_MEMORY(const_, global)
EMULATOR_PTX_MEMORY(local_, global)
#undef EMULATOR_PTX_MEMORY

// ---- Atomics ------------------------------------------------------------------------------------

template <typename T, typename D, typename B, typename Update>
EMULATOR_PTX void update(D &d, char *address, const B &operand, Update combine) {
  const T b = as<T>(operand);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); // whatever order of memory the instruction asks for
  set(d, atomic_update(reinterpret_cast<T *>(address), [=](T old) { return combine(old, b); }));
  acquire();
}
#define EMULATOR_PTX_ATOMIC(name, expression)                                                      \
  template <typename T, typename D, typename B>                                                    \
  EMULATOR_PTX void atom_##name##_(D &d, u64 address, const B &b) {                                \
    update<T>(d, global(address), b, [](T old, T b) { return static_cast<T>(expression); });       \
  }                                                                                                \
  template <typename T, typename D, typename B>                                                    \
  EMULATOR_PTX void atom_shared_##name##_(D &d, u64 address, const B &b) {                         \
    update<T>(d, shared(address), b, [](T old, T b) { return static_cast<T>(expression); });       \
  }                                                                                                \
  template <typename T, typename B>                                                                \
  EMULATOR_PTX void red_##name##_(u64 address, const B &b) {                                       \
    atom_##name##_<T>(sink, address, b);                                                           \
  }                                                                                                \
  template <typename T, typename B>                                                                \
  EMULATOR_PTX void red_shared_##name##_(u64 address, const B &b) {                                \
    atom_shared_##name##_<T>(sink, address, b);                                                    \
  }
EMULATOR_PTX_ATOMIC(add, sum(old, b))
EMULATOR_PTX_ATOMIC(min, smaller(old, b))
EMULATOR_PTX_ATOMIC(max, larger(old, b))
EMULATOR_PTX_ATOMIC(and, old &b)
EMULATOR_PTX_ATOMIC(or, old | b)
EMULATOR_PTX_ATOMIC(xor, old ^ b)
EMULATOR_PTX_ATOMIC(exch, ((void)old, b))
EMULATOR_PTX_ATOMIC(inc, old >= b ? 0 : old + 1)
EMULATOR_PTX_ATOMIC(dec, old == 0 || old > b ? b : old - 1)
#undef EMULATOR_PTX_ATOMIC
template <typename T, typename D, typename B>
EMULATOR_PTX void atom_add_noftz_(D &d, u64 address, const B &b) {
  atom_add_<T>(d, address, b);
}
template <typename T, typename D, typename B, typename C>
EMULATOR_PTX void swap(D &d, char *address, const B &compare, const C &value) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  set(d, compare_and_swap(reinterpret_cast<T *>(address), as<T>(compare), as<T>(value)));
  acquire();
}
template <typename T, typename D, typename B, typename C>
EMULATOR_PTX void atom_cas_(D &d, u64 address, const B &compare, const C &value) {
  swap<T>(d, global(address), compare, value);
}
template <typename T, typename D, typename B, typename C>
EMULATOR_PTX void atom_shared_cas_(D &d, u64 address, const B &compare, const C &value) {
  swap<T>(d, shared(address), compare, value);
}

// ---- Addresses, caches and fences ---------------------------------------------------------------

template <typename T, typename D>
EMULATOR_PTX void cvta_(D &d, u64 address) {
  set(d, static_cast<T>(address));
}
template <typename T, typename D>
EMULATOR_PTX void cvta_to_(D &d, u64 address) {
  set(d, static_cast<T>(address));
}
template <typename T, typename D>
EMULATOR_PTX void cvta_to_shared_(D &d, u64 address) {
  set(d, static_cast<T>(emulator_shared_address(global(address))));
}
template <typename T, typename D>
EMULATOR_PTX void cvta_shared_(D &d, u64 address) {
  set(d, static_cast<T>(reinterpret_cast<uintptr_t>(shared(address))));
}
template <typename T, typename D>
EMULATOR_PTX void mapa_shared_(D &d, u64 address, u32 rank) {
  const u32 own = emulator_current->block->cluster_rank;
  set(d, static_cast<T>(rank == own ? address : (address & 0xffffff) | (rank + 1) << 24));
}
template <typename T, typename D>
EMULATOR_PTX void mapa_(D &d, u64 address, u32 rank, EMULATOR_CALL_SITE) {
  const emulator_site site = {"mapa", file, line};
  set(d, reinterpret_cast<u64>(emulator_cluster_map(global(address), rank, &site)));
}
EMULATOR_PTX void isspacep_shared_(bool &d, u64 address) {
  d = emulator_is_shared(global(address));
}
EMULATOR_PTX void isspacep_(bool &d, u64 address) { d = !emulator_is_shared(global(address)); }
EMULATOR_PTX void prefetch_(u64) {}
EMULATOR_PTX void prefetchu_(u64) {}
EMULATOR_PTX void discard_(u64, int) {}
EMULATOR_PTX void membar_() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMULATOR_PTX void membar_gl_() { membar_(); }
EMULATOR_PTX void fence_() { membar_(); }

// ---- cp.async -----------------------------------------------------------------------------------

EMULATOR_PTX void cp_async_shared_(u64 destination, u64 source, long long bytes, long long taken,
                                   const char *file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  const emulator_site site = {"cp.async", file, line};
  const size_t size = static_cast<size_t>(bytes), kept = static_cast<size_t>(taken);
  emulator_async_copy(shared(destination), global(source), size, kept < size ? size - kept : 0,
                      &site);
}
EMULATOR_PTX void cp_async_shared_(u64 destination, u64 source, long long bytes,
                                   const char *file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  cp_async_shared_(destination, source, bytes, bytes, file, line);
}
EMULATOR_PTX void cp_async_commit_group_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.commit_group", file, line};
  emulator_async_commit(&site);
}
EMULATOR_PTX void cp_async_wait_group_(long long newest, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.wait_group", file, line};
  emulator_async_wait(static_cast<size_t>(newest), &site);
}
EMULATOR_PTX void cp_async_wait_all_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.wait_all", file, line};
  emulator_async_commit(&site);
  emulator_async_wait(0, &site);
}

} // namespace ptx
} // namespace emulator

#endif
