// What the runtime tells a mode that watches kernels: the sanitizer, the counter. A watching mode is
// another build of the emulator, with -DEMULATOR_OBSERVED, in which every function below is the mode's
// (common/emulator/<mode>/); those it has no use for are empty (observed/defaults.c). In the plain build
// all are empty and cost nothing.
//
// Which thread calls. A worker is an OS thread, and all that happens to a block comes from its one
// worker, one call after the other; calls about different blocks may come at the same time, unless
// observer_workers says 1. "On the fiber": on the stack of the CUDA thread that worker->running is,
// which may be left by fault_leave. "On the scheduler": on the worker's own stack, between threads.
// "On the host": on the OS thread of the program that called CUDA's function.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "block.h"
#include "memory.h"

#include <limits.h>

typedef enum {
  OBSERVED_READ,
  OBSERVED_WRITE,
  OBSERVED_ATOMIC,     // reads and writes in one step
  OBSERVED_ASYNC_READ, // of an asynchronous copy: at any time until its wait is over
  OBSERVED_ASYNC_WRITE,
  OBSERVED_BOX_WRITE,   // of the copy engine, until the bytes have arrived
  OBSERVED_PRODUCT_READ // of a warpgroup's product, until the wait for its group is over
} observed_kind;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#if defined(OBSERVER_DEFAULTS)
#define OBSERVER_HOOK(name, parameters)                                                            \
  __attribute__((weak)) void name parameters {}
#define OBSERVER_QUESTION(type, name, answer)                                                      \
  __attribute__((weak)) type name(void) { return answer; }
#elif defined(EMULATOR_OBSERVED)
#define OBSERVER_HOOK(name, parameters)       void name parameters;
#define OBSERVER_QUESTION(type, name, answer) type name(void);
#else
#define OBSERVER_HOOK(name, parameters)                                                            \
  static inline void name parameters {}
#define OBSERVER_QUESTION(type, name, answer)                                                      \
  static inline type name(void) { return answer; }
#endif

// ---- Launches, on the host ----------------------------------------------------------------------

// No block runs before begin has returned, nor after end is called. One launch at a time: name, grid,
// block and bytes of shared memory are in launch->request. `end` also comes for a launch that was
// abandoned; launch->abandoned says so.
OBSERVER_HOOK(observer_launch_begin, (const launch *launch))
OBSERVER_HOOK(observer_launch_end, (const launch *launch))

// The most workers that the mode can take. Asked once.
OBSERVER_QUESTION(unsigned, observer_workers, UINT_MAX)

// The most multiprocessors that the GPU may say it has. Asked on the host.
OBSERVER_QUESTION(unsigned, observer_multiprocessors, UINT_MAX)

// The most blocks that a grid may have in y and in z. Asked on the host.
OBSERVER_QUESTION(unsigned, observer_blocks_yz, UINT_MAX)

// How many findings the mode has reported. Called on the host, outside launches.
OBSERVER_QUESTION(uint64_t, observer_findings, 0)

// A report begins of which the runtime itself found the cause (fault.h): a deadlock, a signal, ... Not
// for the second and later faults of a launch. The launch is abandoned after it.
OBSERVER_HOOK(observer_fault, (worker * worker))

// ---- Blocks, on the scheduler -------------------------------------------------------------------

// worker->block is set, shared memory is filled, no thread has run. `end`: all threads have exited. It
// does not come for an abandoned block.
OBSERVER_HOOK(observer_block_begin, (worker * worker, uint64_t number))
OBSERVER_HOOK(observer_block_end, (worker * worker))

// ---- Threads, on the fiber ----------------------------------------------------------------------

// worker->running is the thread. `end` comes before others learn that it has exited, and before its
// copies that nobody waited for are dropped (thread->copies).
OBSERVER_HOOK(observer_thread_begin, (worker * worker))
OBSERVER_HOOK(observer_thread_end, (worker * worker))

// ---- Waiting ------------------------------------------------------------------------------------

// The running thread comes to a block barrier. On the fiber.
OBSERVER_HOOK(observer_barrier_arrive, (worker * worker, const emulator_site *site))

// All threads that have not exited are there; none has gone on. Each one's `site` says where it waits.
// On the fiber of the last to come, or of one that has exited meanwhile (not THREAD_AT_BARRIER then).
OBSERVER_HOOK(observer_barrier_release, (worker * worker))

// The running lane comes to a warp function. On the fiber.
OBSERVER_HOOK(observer_warp_arrive, (worker * worker, unsigned mask, const emulator_site *site))

// The lanes of a warp met and the function is done; none has gone on. `first` is lane 0. On the fiber
// of the last to come, or of a lane of the warp that has exited meanwhile.
OBSERVER_HOOK(observer_warp_collective,
              (worker * worker, thread *first, unsigned lanes, const emulator_site *site))

// The same, of __syncwarp() alone, which is the only one that orders memory accesses (CUDA C++
// Programming Guide, "Synchronization Functions"). Comes before observer_warp_collective.
OBSERVER_HOOK(observer_warp_barrier, (worker * worker, thread *first, unsigned lanes))

// ---- Memory accesses, on the fiber --------------------------------------------------------------

// Of compiled code, just before it happens (observed/accesses.c, which the kernels' instrumentation
// calls). `pc` is the address behind the call, in the kernel's module. The running thread does it, or
// the host where current_worker or emulator_current is NULL. Any kind of address: also of locals
// and of what the runtime itself keeps.
OBSERVER_HOOK(observer_access,
              (uintptr_t address, size_t bytes, observed_kind kind, const void *pc))

// Of the library, on behalf of `thread`, just before it happens: fragments that are loaded and stored
// (one call for each piece that a lane holds in a register or two), asynchronous copies.
OBSERVER_HOOK(observer_library_access,
              (worker * worker, thread *thread, const void *address, size_t bytes,
               observed_kind kind, const emulator_site *site))

// A fragment is about to be loaded or stored as a whole: 32 lanes, rows (columns) of `row_bytes`
// bytes, `rows` of them, `stride_bytes` apart. Comes before the pieces.
OBSERVER_HOOK(observer_matrix_access,
              (worker * worker, const void *memory, unsigned rows, unsigned row_bytes,
               size_t stride_bytes, observed_kind kind, const emulator_site *site))

// Four 8x8 matrices are about to be loaded by ldmatrix: row[lane] is the address of 16 bytes. Comes before
// the pieces, which here are these rows, each read by the lane that gives it.
OBSERVER_HOOK(observer_matrix_rows,
              (worker * worker, const void *const row[32], const emulator_site *site))

// Products of 2048 multiply-adds each.
OBSERVER_HOOK(observer_matrix_product,
              (worker * worker, unsigned operations, const emulator_site *site))

// ---- Asynchronous copies, of the running thread, on the fiber -----------------------------------

// Start: after its checks, before the destination is filled. Commit and wait: as the thread calls
// them. Done: within a wait, for each copy, before the bytes move.
OBSERVER_HOOK(observer_async_start, (worker * worker, const async_copy *copy))
OBSERVER_HOOK(observer_async_commit, (worker * worker))
OBSERVER_HOOK(observer_async_wait, (worker * worker, size_t newest))
OBSERVER_HOOK(observer_async_done, (worker * worker, const async_copy *copy))

// ---- Barriers for part of a block -------------------------------------------------------------------
//
// mbarrier and bar: `barrier` is the address that tells them apart. Create, of
// an mbarrier, and fence, which makes those of the running thread visible to the copy engine. Arrive and wait: of the running thread, on the fiber, before it is counted, and when the wait is over. Complete:
// a phase ends, nobody has gone on; on the fiber of the last to come, or on the scheduler.
OBSERVER_HOOK(observer_phase_create,
              (worker * worker, const void *barrier, const emulator_site *site))
OBSERVER_HOOK(observer_phase_fence, (worker * worker))
OBSERVER_HOOK(observer_phase_arrive, (worker * worker, const void *barrier))
OBSERVER_HOOK(observer_phase_complete, (worker * worker, const void *barrier))
OBSERVER_HOOK(observer_phase_wait, (worker * worker, const void *barrier))

// ---- Box copies ---------------------------------------------------------------------------------

// Start: after its checks, before the destination is filled; on the fiber. Done: before the bytes move; on
// the scheduler. The rows that it reads come as accesses of the library.
OBSERVER_HOOK(observer_box_start, (worker * worker, const box_copy *copy))
OBSERVER_HOOK(observer_box_done, (worker * worker, const box_copy *copy))

// ---- Products of a warpgroup, of the running thread, on the fiber -------------------------------

// The thread orders its accesses to registers before later products.
OBSERVER_HOOK(observer_register_fence, (worker * worker))

// The thread is about to give the product its registers.
OBSERVER_HOOK(observer_product_registers,
              (worker * worker, const emulator_warpgroup_product *product,
               const emulator_site *site))

// The first of the warpgroup's threads starts a product: for each piece that it will read of shared memory. The
// others start it: for some of them, once more.
OBSERVER_HOOK(observer_product_read, (worker * worker, const void *address, size_t bytes,
                                      bool again, const emulator_site *site))

// The first thread commits the group of that number. A thread's wait for all groups below `end` is over.
OBSERVER_HOOK(observer_group_commit, (worker * worker, uint64_t group))
OBSERVER_HOOK(observer_group_wait, (worker * worker, uint64_t end))

// ---- Memory of the device, on the host ----------------------------------------------------------

// Freed: before the memory goes. Host writes: copies and fills, before they are done; `from` is the
// source on the device of a copy on the device, else NULL.
OBSERVER_HOOK(observer_memory_allocated, (const memory_allocation *entry))
OBSERVER_HOOK(observer_memory_freed, (const memory_allocation *entry))
OBSERVER_HOOK(observer_memory_written, (const void *address, size_t bytes, const void *from))

#pragma GCC diagnostic pop
#undef OBSERVER_HOOK
#undef OBSERVER_QUESTION

#endif
