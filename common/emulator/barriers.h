// The runtime's part of the barriers of common/kernel/hopper.cuh: barriers in shared memory (mbarrier) and barriers by
// number (bar). C17 and C++17, kernel side.
#ifndef BARRIERS_H
#define BARRIERS_H

#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- mbarrier: PTX ISA 9.0, 9.7.13.15 -----------------------------------------------------------
//
// The barrier is a 64-bit word in shared memory, which holds all there is to know of it: arrivals that
// are still to come in this phase, arrivals of a phase, bytes announced and not yet written, the phase's
// parity. A word that is no such thing, because nobody made it or somebody wrote over it, is a fault. So are
// these functions where the GPU's compute capability is below 9.0, which waits and byte counts came with.

// Makes a barrier for 1 to 2^20 - 1 arrivals a phase.
EMULATOR_API void emulator_mbarrier_create(uint64_t *barrier, unsigned arrivals,
                                           const emulator_site *site);

// Makes the barriers that the thread has made visible to the copy engine (9.7.13.4, "fence"). It is the
// sanitizer that reports copies which count on others; the emulator itself does nothing here.
EMULATOR_API void emulator_mbarrier_fence(void);

// Announces `bytes` that a copy will write, and arrives. More arrivals than the barrier was made for are a
// fault.
EMULATOR_API void emulator_mbarrier_arrive(uint64_t *barrier, unsigned bytes,
                                           const emulator_site *site);

// Waits until the phase of that parity, 0 or 1, is complete: passes when the barrier is in one of the other.
EMULATOR_API void emulator_mbarrier_wait(uint64_t *barrier, unsigned parity,
                                         const emulator_site *site);

// ---- bar: PTX ISA 9.0, 9.7.13.1 -----------------------------------------------------------------

// Comes to barrier `number`, 1 to 15, of `threads` threads, a multiple of 32; wait stays until so many have
// come, arrive goes on. All that come until then must give the same count.
EMULATOR_API void emulator_named_barrier_wait(int number, int threads, const emulator_site *site);
EMULATOR_API void emulator_named_barrier_arrive(int number, int threads, const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif
