// The emulator's own interface: the functions that the stand-in CUDA headers and
// rewritten kernels call, and the few that a host program may call. C17 and C++17.
//
// Each CUDA thread is a fiber; the fibers of a block take turns on one OS thread
// (a worker). Only a CUDA thread may call the functions marked "kernel side".
#ifndef EMULATOR_H
#define EMULATOR_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The current thread -------------------------------------------------------------------------

typedef struct {
  uint3 block_index;
  dim3 block_dim;
  dim3 grid_dim;
  void *dynamic_shared; // aligned as the kernel's module asks, to 16 bytes at least, and no further
  dim3 cluster_dim;     // blocks
  uint3 cluster_place;  // of the block in its cluster
  unsigned cluster_rank;  // the same as one number, x fastest
  bool cluster_specified; // the kernel or the launch says that there are clusters
} emulator_block;

typedef struct {
  uint3 thread_index;
  unsigned lane; // 0 to 31, within its warp
  const emulator_block *block;
} emulator_thread;

// The CUDA thread that runs on this OS thread; NULL on the host. Read it
// again after each call that may wait, because a switch of fibers changes it.
EMULATOR_API extern __thread const emulator_thread *emulator_current
    __attribute__((tls_model("initial-exec")));

// Threads of a block exchange values that lie on their stacks: each offers its own, and between two barriers, at which
// all of them wait, others read it. `thread` is the number of the one that has offered the value.
EMULATOR_API void emulator_offer_value(const void *value);
EMULATOR_API void emulator_offered_value(unsigned thread, void *value, size_t bytes);

// ---- Launch -------------------------------------------------------------------------------------

typedef struct {
  const void *kernel; // address of the kernel; it tells which module's static shared memory is used
  const char *name;   // as written at the launch, for reports
  dim3 grid;
  dim3 block;
  size_t dynamic_shared_bytes;
  void (*body)(void *arguments); // runs the kernel for one thread
  void *arguments;               // copied, when the launch is queued
  size_t arguments_bytes;
  cudaStream_t stream;
  bool cooperative; // all blocks run at the same time
  bool early;       // on a GPU it may begin before the kernel before it in the stream has ended
  dim3 cluster;     // blocks of a cluster; 0 x 0 x 0: the launch does not say, and the kernel may
} emulator_launch_request;

// Fills in what the attributes of cudaLaunchKernelEx ask for. Refuses those that the emulator does not know.
EMULATOR_API cudaError_t emulator_launch_attributes(const cudaLaunchConfig_t *config,
                                                    emulator_launch_request *request);

// The name of a kernel that the source does not name at its launch, from the symbols of its module.
EMULATOR_API const char *emulator_kernel_name(const void *kernel, char *(*demangle)(const char *));

// The name of a kernel for which `written` stands at its launch: the same, unless that is a variable with the kernel's
// address, or a macro.
EMULATOR_API const char *emulator_launch_name(const void *kernel, const char *written,
                                              char *(*demangle)(const char *));

// Runs the whole grid and returns when it has finished; on several devices queues it. Returns the error that a launch on
// a GPU returns, and keeps it for cudaGetLastError: cudaErrorInvalidValue when the grid or block is
// not allowed or needs too much shared memory, or the error of the fault when a thread faulted.
EMULATOR_API cudaError_t emulator_launch(const emulator_launch_request *request);

// A kernel's parameters, for programs that launch it by its address: `pack` makes at `packed` what `body` is given, of
// `bytes` bytes, from pointers to the arguments.
typedef struct {
  size_t bytes, alignment;
} emulator_parameter;
typedef struct {
  const void *kernel;
  const char *name;
  size_t bytes;
  void (*pack)(void *packed, const void *kernel, void **arguments);
  void (*body)(void *packed);
  const emulator_parameter *parameters;
  size_t parameter_count;
} emulator_kernel_form;
EMULATOR_API void emulator_know_kernel(const emulator_kernel_form *form);

// Notes which kernel or variable a name expression of nvrtc stands for, while the module that has it is loaded.
EMULATOR_API void emulator_name_expression(const char *expression, const void *address);

// Declares that the module that holds `in_module` has an `extern __shared__` array of this alignment, a
// power of two. Dynamic shared memory is then aligned so for all kernels of the module. Returns true.
enum { EMULATOR_SHARED_ALIGNMENT_MAX = 1024 };
EMULATOR_API bool emulator_align_dynamic_shared(const void *in_module, size_t alignment);

// Notes that the running thread's kernel has this parameter as __grid_constant__. On a GPU all threads then read it where
// the launch has put it, and in the emulator each has a copy all the same (see runtime/map_place.h).
EMULATOR_API void emulator_grid_constant(const void *parameter, size_t bytes);

// ---- Waiting (kernel side) ----------------------------------------------------------------------

// The place where the kernel's source calls a waiting operation; it must live until the call returns.
typedef struct {
  const char *operation; // "__syncthreads()"
  const char *file;
  int line;
} emulator_site;

typedef struct {
  unsigned arrived;    // threads that came to the barrier
  unsigned predicates; // how many of them have a predicate other than 0
} emulator_barrier_result;

// Waits until every thread of the block that has not exited has arrived.
EMULATOR_API emulator_barrier_result emulator_block_barrier(int predicate,
                                                            const emulator_site *site);

// Waits until every thread of the grid has arrived. It is a fault in a launch that is not cooperative.
EMULATOR_API void emulator_grid_barrier(const emulator_site *site);

// Waits, in an early launch, for the end of the kernel before it.
EMULATOR_API void emulator_wait_for_earlier_kernel(void);

// The barrier of a cluster: a thread arrives, and waits until every thread of the cluster that has not exited has
// arrived; or it does both at once. In a launch without clusters each block is a cluster.
EMULATOR_API void emulator_cluster_barrier(const emulator_site *site);
EMULATOR_API void emulator_cluster_arrive(const emulator_site *site);
// Orders no accesses before it, unless a fence stands between.
EMULATOR_API void emulator_cluster_arrive_relaxed(const emulator_site *site);
EMULATOR_API void emulator_cluster_wait(const emulator_site *site);

// The operation of a warp collective: operand[lane] points to that lane's operand and is
// NULL for a lane that does not take part. `lanes` has a bit for each lane that takes part.
typedef void (*emulator_warp_operation)(void *operand[32], unsigned lanes);

// Waits until every lane of `mask` that has not exited has arrived with the same
// operation, runs it once over all their operands, and lets the lanes continue. Different
// masks of one warp may wait at the same time. Reports a fault when the caller's lane is
// not in `mask`, or when lanes with the same mask arrive with different operations.
EMULATOR_API void emulator_warp_collective(unsigned mask, emulator_warp_operation operation,
                                           void *operand, const emulator_site *site);

// The warp functions of CUDA (Programming Guide, "Warp Shuffle Functions" and its neighbours).
EMULATOR_API void emulator_warp_barrier(unsigned mask, const emulator_site *site);
// Copies `bytes` of `value` of lane `source_lane` to `result`, or poison (numeric/poison.h) when that lane takes
// no part.
EMULATOR_API void emulator_shuffle(unsigned mask, const void *value, void *result, unsigned bytes,
                                   unsigned source_lane, const emulator_site *site);
EMULATOR_API unsigned emulator_ballot(unsigned mask, int predicate, const emulator_site *site);
EMULATOR_API unsigned emulator_match_any(unsigned mask, uint64_t value, const emulator_site *site);
EMULATOR_API unsigned emulator_match_all(unsigned mask, uint64_t value, int *all_equal,
                                         const emulator_site *site);
typedef enum {
  EMULATOR_REDUCE_ADD,
  EMULATOR_REDUCE_MIN_SIGNED,
  EMULATOR_REDUCE_MAX_SIGNED,
  EMULATOR_REDUCE_MIN_UNSIGNED,
  EMULATOR_REDUCE_MAX_UNSIGNED,
  EMULATOR_REDUCE_AND,
  EMULATOR_REDUCE_OR,
  EMULATOR_REDUCE_XOR
} emulator_reduction;
EMULATOR_API unsigned emulator_reduce(unsigned mask, emulator_reduction reduction, unsigned value,
                                      const emulator_site *site);
// Returns the lanes that reach this call site before the rest of the warp waits elsewhere or exits.
EMULATOR_API unsigned emulator_active_mask(const emulator_site *site);

// Lets the block's other threads run first. A thread that polls memory must call it, since nothing
// interrupts a fiber; every atomic operation and __nanosleep calls it. On the host it does nothing.
EMULATOR_API void emulator_yield(void);

// ---- Addresses (kernel side) --------------------------------------------------------------------

EMULATOR_API int emulator_is_shared(const void *pointer);

// Distributed shared memory: where the block of that rank in the cluster has what lies at `pointer` in this block's
// shared memory, and the rank of the block in whose shared memory a pointer is.
EMULATOR_API void *emulator_cluster_map(const void *pointer, unsigned rank,
                                        const emulator_site *site);
EMULATOR_API unsigned emulator_cluster_rank_of(const void *pointer, const emulator_site *site);
// Whether a pointer is to the shared memory of any block of the cluster.
EMULATOR_API int emulator_is_cluster_shared(const void *pointer);

// The 32-bit address of a byte of the block's shared memory, and the reverse. A GPU numbers CUDA's
// own 1024 bytes first, then static, then dynamic memory. Both report a fault for an address outside.
EMULATOR_API uint32_t emulator_shared_address(const void *pointer);
EMULATOR_API void *emulator_shared_pointer(size_t address);

// ---- Faults (kernel side) -----------------------------------------------------------------------

// Reports the sentence with kernel, block and thread, and abandons the launch
// with `error`, which stays set until cudaDeviceReset. Does not return.
EMULATOR_API __attribute__((noreturn, format(printf, 2, 3))) void
emulator_fault(cudaError_t error, const char *format, ...);

// Receives the arguments that assert() passes to __assert_fail, which
// cuda_runtime.h renames. On the host it behaves like __assert_fail. A source that
// includes assert.h again behind cuda_runtime.h declares it a second time, as here.
EMULATOR_API __attribute__((noreturn)) void emulator_assert_fail(const char *expression,
                                                                 const char *file,
                                                                 unsigned int line,
                                                                 const char *function) __THROW;

// ---- Random numbers -----------------------------------------------------------------------------

// Changes the five words of cuRAND's generator XORWOW as count * 2^log_unit steps do; log_unit is 0, or for whole
// subsequences the number below. Its sixth word is the caller's.
enum { EMULATOR_XORWOW_LOG_SUBSEQUENCE = 67 };
EMULATOR_API void emulator_xorwow_skip(uint32_t v[5], uint64_t count, unsigned log_unit);

// ---- For the C++ host overloads ------------------------------------------------------------------

// Makes `error` the host thread's last error, unless it is cudaSuccess, and returns it.
EMULATOR_API cudaError_t emulator_record_error(cudaError_t error);

// Sets *pointer to the address of a variable of `bytes` bytes; copies then accept this address.
EMULATOR_API cudaError_t emulator_symbol_address(void **pointer, const void *symbol, size_t bytes);

// Records that a copy of `bytes` from `offset` on is larger than its variable, and returns the error.
EMULATOR_API cudaError_t emulator_refuse_symbol(size_t bytes, size_t offset, size_t symbol_bytes);

// ---- For host programs --------------------------------------------------------------------------

// Sets the order in which threads run: 0 is thread order, and any other seed is a shuffled
// order, which is the same for the same seed, whatever the number of workers. Numbers launches
// from 0 again. The environment variable EMU_SEED sets the seed for the whole program.
EMULATOR_API void emulator_set_seed(uint64_t seed);

// From now on a seed other than 0 also chooses the block with which a launch begins, and whether the blocks go up or down,
// so that any block may be the last. A GPU promises no order, but a kernel whose blocks wait for those of lower numbers
// then does not end. EMU_SHUFFLE_BLOCKS=1 does the same for the whole program.
EMULATOR_API void emulator_shuffle_blocks(void);

// The largest number of blocks that a grid may have in y, and in z, which is the kernels' MAX_GRID_YZ: 65,535
// as on a GPU, or the value of the environment variable EMU_GRID_LIMIT, for tests with small problems.
EMULATOR_API int emulator_grid_limit(void);

// For programs whose kernels know nothing of MAX_GRID_YZ: a watching emulator then takes every grid that a GPU takes.
EMULATOR_API void emulator_take_any_grid(void);

// For programs none of whose calls of CUDA should fail: the sanitizer then reports each that does, as a finding.
EMULATOR_API void emulator_take_failures_for_faults(void);

// The sums over all launches since the last reset.
typedef struct {
  uint64_t launches;
  uint64_t early_launches; // those that may begin before the kernel before them has ended
  uint64_t blocks;
  uint64_t threads;
  uint64_t block_barriers;   // one for each time a block passed a barrier
  uint64_t warp_collectives; // one for each time a warp, or part of one, completed one
  uint64_t fiber_switches;
  uint64_t tensor_core_operations; // products of 2048 multiply-adds: 16x8x16; a wmma product is two
  uint64_t async_copy_bytes;       // bytes that asynchronous copies read from global memory
  uint64_t
      async_copies_dropped; // started, but not done when their thread, of boxes their block, ended
  uint64_t
      products_over_copies; // those above that a thread began with copies by cp.async under way
  // Those by the first half of a launch's blocks, which start first. Only launches with more blocks than the GPU
  // has multiprocessors count here: in all others no block need wait for another one.
  uint64_t products_in_the_first_half;
  uint64_t collectives_under_products; // those of warps whose products by wgmma are under way
  uint64_t named_barriers;             // one for each time a named barrier let its threads pass
  // Groups of products by wgmma that a warp group committed between a wait at a named barrier and its next arrival
  // at one: in its turn.
  uint64_t product_groups_in_turns;
  uint64_t repeated_arrivals; // of threads that had come to the named barrier in this phase already
  // From device to device, by the host's calls: those that wait for a kernel that was queued since the reset.
  uint64_t copies_behind_kernels;
  unsigned grid[3]; // of the last launch: x, y, z
} emulator_counts;
EMULATOR_API emulator_counts emulator_counts_read(void);
EMULATOR_API void emulator_counts_reset(void);

// Bytes that copies and collectives carried from one device to the other since the last reset, and with MODE=count those
// that kernels read and wrote in another device's memory. A collective counts as NCCL's ring carries it, from each rank
// to the next one.
EMULATOR_API uint64_t emulator_link_bytes(int from, int to);

// Calls `visit` for every kernel of the program or shared object that holds `address`, instances of templates
// one by one, with its mangled name and whether it has been launched in this process. False when the module's symbols
// cannot be read. At a kernel's first launch the same is appended to the file that the environment variable
// EMU_KERNELS names, if it is set: a line "launched NAME" or "compiled NAME" for each kernel of the module.
EMULATOR_API bool emulator_visit_kernels(const void *address,
                                         void (*visit)(const char *name, bool launched,
                                                       void *context),
                                         void *context);

// Returns how many findings a build of the emulator that watches kernels has reported; other builds return 0.
EMULATOR_API uint64_t emulator_findings(void);

#ifdef __cplusplus
}
#endif
#endif
