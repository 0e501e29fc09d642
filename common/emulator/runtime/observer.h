// The hooks by which the runtime informs a mode that watches kernels (the sanitizer, the
// counter). Such a mode is another build of the emulator, with -DEMULATOR_OBSERVED, and
// defines the functions below (common/emulator/<mode>/); those that it does not need are
// empty (observed/defaults.c). In the plain build all are empty and cost nothing.
//
// Each comment says which thread calls. A worker is an OS thread, and all calls about a block
// come from its one worker, one after the other; calls about different blocks may come at the
// same time, unless observer_workers returns 1. "On the fiber" means the stack of the CUDA thread
// worker->running, which fault_leave may leave. "On the scheduler" means the worker's own stack,
// between threads. "On the host" means the OS thread of the program that called CUDA's function.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "block.h"
#include "memory.h"

#include <limits.h>

typedef enum {
  OBSERVED_READ,
  OBSERVED_STRUCT_READ, // of a whole struct, with the padding that no member fills
  OBSERVED_WRITE,
  OBSERVED_ATOMIC,       // reads and writes in one step
  OBSERVED_ATOMIC_STORE, // writes in one step
  OBSERVED_COMPARE,      // the same, where the kernel gives the value that it expects to read
  OBSERVED_ASYNC_READ,   // of an asynchronous copy, at any time until its wait is over
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

// No block runs before begin has returned, nor after end is called. One launch runs
// at a time; its name, grid, block and bytes of shared memory are in launch->request.
// `end` is also called for an abandoned launch; launch->abandoned says so.
OBSERVER_HOOK(observer_launch_begin, (const launch *launch))
OBSERVER_HOOK(observer_launch_end, (const launch *launch))

// The largest number of workers that the mode supports; the same at each call.
OBSERVER_QUESTION(unsigned, observer_workers, UINT_MAX)

// The largest number of multiprocessors that the GPU may report. Called on the host.
OBSERVER_QUESTION(unsigned, observer_multiprocessors, UINT_MAX)

// The largest number of blocks that a grid may have in y and in z. Called on the host.
OBSERVER_QUESTION(unsigned, observer_blocks_yz, UINT_MAX)

// The next launch begins when the kernels before it have ended: the host has waited for the device, for a stream or
// for an event, or has seen that they are done; the stream waits for an event; or a graph begins or ends. Called on the
// host, outside launches.
OBSERVER_HOOK(observer_launches_apart, (void))

// How many findings the mode has reported. Called on the host, outside launches.
OBSERVER_QUESTION(uint64_t, observer_findings, 0)

// A function of CUDA fails, of a program that takes this for a fault (emulator_take_failures_for_faults). `why` is a line
// for the report, or NULL. On the stack of the host thread that has called it.
OBSERVER_HOOK(observer_call_failed, (cudaError_t error, const char *why))

// The runtime begins a report of a fault that it found itself (fault.h): a deadlock, a signal, ... It
// does not call this for the second and later faults of a launch. The launch is abandoned afterwards.
OBSERVER_HOOK(observer_fault, (worker * worker))

// ---- Blocks, on the scheduler -------------------------------------------------------------------

// At begin worker->block is set, shared memory is filled, and no thread
// has run. At end all threads have exited; an abandoned block has no end.
OBSERVER_HOOK(observer_block_begin, (worker * worker, uint64_t number))
OBSERVER_HOOK(observer_block_end, (worker * worker))

// ---- Threads, on the fiber ----------------------------------------------------------------------

// worker->running is the thread. `end` is called before other threads learn that it
// has exited, and before its copies without a wait are dropped (thread->copies).
OBSERVER_HOOK(observer_thread_begin, (worker * worker))
OBSERVER_HOOK(observer_thread_end, (worker * worker))

// ---- Waiting ------------------------------------------------------------------------------------

// The running thread has reached a block barrier. On the fiber.
OBSERVER_HOOK(observer_barrier_arrive, (worker * worker, const emulator_site *site))

// All threads that have not exited have arrived; none has continued. Each one's `site` says where it waits.
// On the fiber of the last to arrive, or of one that has exited meanwhile (not THREAD_AT_BARRIER then).
OBSERVER_HOOK(observer_barrier_release, (worker * worker))

// ---- Blocks that take turns ---------------------------------------------------------------------

// A cluster of several blocks, or a cooperative grid whose blocks take turns, begins, before its blocks do, or has
// ended; on the scheduler, with its lead. One of its blocks is about to have its turn; on the scheduler. Blocks begin
// one after the other, then take turns, and end in any order.
OBSERVER_HOOK(observer_cluster_begin, (worker * lead))
OBSERVER_HOOK(observer_cluster_end, (worker * lead))
OBSERVER_HOOK(observer_block_enter, (worker * worker))

// The running thread arrives at the cluster's barrier; all threads of the cluster have come or exited; the running
// thread has waited. On the fiber; the second, where no thread has continued, on that of the last to arrive or exit.
// They are called as well where each block is a cluster.
OBSERVER_HOOK(observer_cluster_arrive, (worker * worker, const emulator_site *site, bool relaxed))
OBSERVER_HOOK(observer_cluster_release, (worker * worker))
OBSERVER_HOOK(observer_cluster_wait, (worker * worker))

// The same for the barrier of a cooperative grid, to which one thread of each block comes between two barriers of the
// block.
OBSERVER_HOOK(observer_grid_arrive, (worker * worker))
OBSERVER_HOOK(observer_grid_release, (worker * worker))
OBSERVER_HOOK(observer_grid_wait, (worker * worker))

// The running thread knows that the kernel before the running one in its stream has ended.
OBSERVER_HOOK(observer_earlier_wait, (worker * worker))

// ---- Warps --------------------------------------------------------------------------------------

// The running lane has reached a warp function. On the fiber.
OBSERVER_HOOK(observer_warp_arrive, (worker * worker, unsigned mask, const emulator_site *site))

// The lanes of a warp have met and the function is done; none has continued. `first` is lane
// 0. On the fiber of the last to arrive, or of a lane of the warp that has exited meanwhile.
OBSERVER_HOOK(observer_warp_collective,
              (worker * worker, thread *first, unsigned lanes, const emulator_site *site))

// A lane of the running one's warp reads, by a shuffle, a lane that takes no part in it. On the fiber of the last
// to arrive.
OBSERVER_HOOK(observer_shuffle_absent,
              (worker * worker, unsigned lane, unsigned source_lane, const emulator_site *site))

// The same for __syncwarp() alone, which is the only warp function that orders memory accesses (CUDA
// C++ Programming Guide, "Synchronization Functions"). It is called before observer_warp_collective.
OBSERVER_HOOK(observer_warp_barrier, (worker * worker, thread *first, unsigned lanes))

// ---- Memory accesses, on the fiber --------------------------------------------------------------

// An access of compiled code, just before it happens (observed/accesses.c, which the
// kernels' instrumentation calls). `pc` is the address behind the call, in the kernel's
// module. The running thread accesses, or the host where current_worker or emulator_current
// is NULL. Any address may come, also that of a local variable or of the runtime's own data.
OBSERVER_HOOK(observer_access,
              (uintptr_t address, size_t bytes, observed_kind kind, const void *pc))

// The running thread has called __threadfence(), or another fence for all threads of the device. The second: what other
// blocks have released, the thread sees from now on, because its last atomic operation acquires.
OBSERVER_HOOK(observer_fence, (worker * worker))
OBSERVER_HOOK(observer_acquire, (worker * worker))

// An access of the library on behalf of `thread`, just before it happens: fragments that are loaded and
// stored (one call for each piece that a lane holds in one or two registers), and asynchronous copies.
OBSERVER_HOOK(observer_library_access,
              (worker * worker, thread *thread, const void *address, size_t bytes,
               observed_kind kind, const emulator_site *site))

// A whole fragment is about to be loaded or stored by 32 lanes: `rows` rows (columns)
// of `row_bytes` bytes, `stride_bytes` apart. It is called before the pieces.
OBSERVER_HOOK(observer_matrix_access,
              (worker * worker, const void *memory, unsigned rows, unsigned row_bytes,
               size_t stride_bytes, observed_kind kind, const emulator_site *site))

// ldmatrix is about to load four 8x8 matrices: row[lane] is the address of 16 bytes. It is called
// before the pieces; these are the rows, and the lane that gives a row's address reads it.
OBSERVER_HOOK(observer_matrix_rows,
              (worker * worker, const void *const row[32], const emulator_site *site))

// Counts products of 2048 multiply-adds each.
OBSERVER_HOOK(observer_matrix_product,
              (worker * worker, unsigned operations, const emulator_site *site))

// ---- Asynchronous copies, of the running thread, on the fiber -----------------------------------

// Start is called after the copy's checks, before the destination is filled, and concerns its source alone; commit and
// wait, as the thread calls them; done, within a wait, for each copy, before the bytes move.
OBSERVER_HOOK(observer_async_start, (worker * worker, async_copy *copy))
OBSERVER_HOOK(observer_async_commit, (worker * worker))
OBSERVER_HOOK(observer_async_wait, (worker * worker, size_t newest))
OBSERVER_HOOK(observer_async_done, (worker * worker, const async_copy *copy))

// ---- Barriers for part of a block -------------------------------------------------------------------
//
// The address `barrier` tells barriers apart. Create is for an mbarrier; fence makes the thread's mbarriers
// visible to the copy engine. Arrive is called before it is counted, wait when the wait is over, on the
// fiber. Look is called when a wait at an mbarrier begins: for the running phase, or for the one before, which is over. Complete: a phase ends, no thread has continued; on the last thread's fiber, or the scheduler.
OBSERVER_HOOK(observer_phase_create,
              (worker * worker, const void *barrier, const emulator_site *site))
OBSERVER_HOOK(observer_phase_fence, (worker * worker))
OBSERVER_HOOK(observer_phase_arrive,
              (worker * worker, const void *barrier, const emulator_site *site))
OBSERVER_HOOK(observer_phase_look,
              (worker * worker, const void *barrier, bool over, const emulator_site *site))
OBSERVER_HOOK(observer_phase_complete, (worker * worker, const void *barrier))
OBSERVER_HOOK(observer_phase_wait, (worker * worker, const void *barrier))

// For a named barrier, by its number, beside these: the thread is about to arrive; its phase is about to be complete.
OBSERVER_HOOK(observer_turn_arrive, (worker * worker, unsigned number, const emulator_site *site))
OBSERVER_HOOK(observer_turn_complete, (worker * worker, unsigned number))

// ---- Box copies ---------------------------------------------------------------------------------

// Start is called after the copy's checks and before the destination is filled, on the fiber; done before
// the bytes move, on the scheduler. The rows that a copy reads are reported as the library's accesses.
OBSERVER_HOOK(observer_box_start, (worker * worker, box_copy *copy))
OBSERVER_HOOK(observer_box_done, (worker * worker, const box_copy *copy))

// A box copy that is done has read this piece of its source, at any time since its start.
OBSERVER_HOOK(observer_box_source_done,
              (worker * worker, const box_copy *copy, const void *address, size_t bytes))

// ---- Products of a warpgroup, of the running thread, on the fiber -------------------------------

// The thread orders its accesses to registers before later products.
OBSERVER_HOOK(observer_register_fence, (worker * worker))

// The thread makes its writes to shared memory visible to later products and to the copy engine, and orders what it
// knows of before later box copies.
OBSERVER_HOOK(observer_proxy_fence, (worker * worker))

// The thread is about to give the product its registers.
OBSERVER_HOOK(observer_product_registers,
              (worker * worker, const emulator_warpgroup_product *product,
               const emulator_site *site))

// Called for each piece of shared memory that a product will read: for all pieces when the warpgroup's
// first thread starts the product, and again for some of them when the other threads start it.
OBSERVER_HOOK(observer_product_read, (worker * worker, const void *address, size_t bytes,
                                      bool again, const emulator_site *site))

// The first thread commits the group of that number; a thread's wait for all groups below `end` is over.
OBSERVER_HOOK(observer_group_commit, (worker * worker, uint64_t group))
OBSERVER_HOOK(observer_group_wait, (worker * worker, uint64_t end))

// ---- Memory of the device, on the host ----------------------------------------------------------

// Freed is called before the memory is unmapped. Host writes, copies and fills, are reported before
// they happen; `from` is the source in device memory of a copy within the device, else NULL.
OBSERVER_HOOK(observer_memory_allocated, (const memory_allocation *entry))
OBSERVER_HOOK(observer_memory_freed, (const memory_allocation *entry))
OBSERVER_HOOK(observer_memory_written, (const void *address, size_t bytes, const void *from))

#pragma GCC diagnostic pop
#undef OBSERVER_HOOK
#undef OBSERVER_QUESTION

#endif
