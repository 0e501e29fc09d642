// Barriers, fences and the clock (CUDA C++ Programming Guide, "Synchronization Functions", "Memory
// Fence Functions", "Time Function"). The defaulted parameters tell a report where a thread waits.
#ifndef EMULATOR_DETAIL_SYNCHRONIZATION_H
#define EMULATOR_DETAIL_SYNCHRONIZATION_H

#include "emulator.h"

#include <time.h>

// The parameters that every waiting function has after CUDA's own.
#define EMULATOR_CALL_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// Part of its caller whatever the compiler optimises: a report of a thread that was stopped in a loop around it names the
// line of the loop.
inline __attribute__((always_inline)) void __syncthreads(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__syncthreads()", file, line};
  emulator_block_barrier(0, &site);
}

inline int __syncthreads_count(int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__syncthreads_count()", file, line};
  return static_cast<int>(emulator_block_barrier(predicate, &site).predicates);
}

inline int __syncthreads_and(int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__syncthreads_and()", file, line};
  const emulator_barrier_result result = emulator_block_barrier(predicate, &site);
  return result.predicates == result.arrived;
}

inline int __syncthreads_or(int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__syncthreads_or()", file, line};
  return emulator_block_barrier(predicate, &site).predicates > 0;
}

inline void __syncwarp(unsigned mask = 0xffffffff, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__syncwarp()", file, line};
  emulator_warp_barrier(mask, &site);
}

// The sanitizer tells a fence for the block by its order.
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// A kernel that is launched by cudaLaunchAttributeProgrammaticStreamSerialization waits for the end of the one before it,
// whose writes it then sees. Here that one has always ended, but the sanitizer asks for the wait.
inline void cudaGridDependencySynchronize() { emulator_wait_for_earlier_kernel(); }
// The kernel behind the running one may begin once all its blocks have called this or ended.
inline void cudaTriggerProgrammaticLaunchCompletion() {}

inline void __nanosleep(unsigned) { emulator_yield(); }

// Nanoseconds of host time: they tell the order of events, but measure nothing.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

[[noreturn]] inline void __trap() { emulator_fault(cudaErrorLaunchFailure, "__trap() was called"); }

#endif
