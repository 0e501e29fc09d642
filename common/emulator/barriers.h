// The runtime's part of the barriers of common/kernel/hopper.cuh: mbarriers, which lie in
// shared memory, and named barriers, which have a number (bar). C17 and C++17, kernel side.
#ifndef BARRIERS_H
#define BARRIERS_H

#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- mbarrier: PTX ISA 9.0, 9.7.13.15 -----------------------------------------------------------
//
// The barrier is a 64-bit word in shared memory with its whole state: the arrivals still to come in
// this phase, the arrivals of each phase, the bytes announced and not yet written, and the phase's
// parity. A fault is reported if the word was never initialised as a barrier or was overwritten,
// and if the GPU's compute capability is below 9.0, which introduced waits and byte counts.

// Initialises a barrier for 1 to 2^20 - 1 arrivals per phase. `words` are those of the source for its address,
// such as "&full[stage]", for reports; "[]" at the end stands for any index. They must stay in memory.
EMULATOR_API void emulator_mbarrier_create(uint64_t *barrier, unsigned arrivals, const char *words,
                                           const emulator_site *site);

// Makes the thread's barriers and its writes to shared memory visible to the copy engine (9.7.13.4, "fence"). The
// emulator itself does nothing here; the sanitizer reports copies that use a barrier without this fence.
EMULATOR_API void emulator_mbarrier_fence(void);

// Announces `bytes` that a copy will write, and arrives. It is a
// fault if more threads arrive than the barrier was initialised for.
EMULATOR_API void emulator_mbarrier_arrive(uint64_t *barrier, unsigned bytes,
                                           const emulator_site *site);

// The parity of the phase that is under way, for a thread that arrives and waits later.
EMULATOR_API unsigned emulator_mbarrier_parity(const uint64_t *barrier, const emulator_site *site);

// Waits until the phase of that parity, 0 or 1, is complete, as it is once the other parity's is current.
EMULATOR_API void emulator_mbarrier_wait(uint64_t *barrier, unsigned parity,
                                         const emulator_site *site);

// ---- bar: PTX ISA 9.0, 9.7.13.1 -----------------------------------------------------------------

// All three functions arrive at barrier `number`, 1 to 15, of `threads` threads, a multiple of 32. wait and any block
// until that many threads have arrived; arrive does not block. All these threads must give the same count. any returns
// whether `value` was true in any of them. It is a fault if some of the threads call it and others do not.
EMULATOR_API void emulator_named_barrier_wait(int number, int threads, const emulator_site *site);
EMULATOR_API void emulator_named_barrier_arrive(int number, int threads, const emulator_site *site);
EMULATOR_API bool emulator_named_barrier_any(int number, int threads, bool value,
                                             const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif
