// The device that runs the kernels, which is a GPU or the emulator in its place.
#ifndef DEVICE_H
#define DEVICE_H

#include "error/error.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char name[256];         // such as "NVIDIA H200" or "Emulated NVIDIA H200"
  char slug[256];         // the same as a folder name: "nvidia-h200"
  bool emulated;          // then there are counts, and times mean nothing
  int compute_capability; // major * 10 + minor
  int multiprocessors;
  size_t memory_bytes;
  size_t l2_bytes;
} device_info;

// Selects device 0. When there is none, returns false with a sentence that says what to do.
bool device_open(device_info *info, error_text *error);

// Returns true for cudaSuccess; else fills the sentence "<what> failed: <CUDA's words> (<its name>)".
bool device_ok(cudaError_t status, const char *what, error_text *error);

// Tells after a launch that failed whether others can be made. After a write to a wild address, for one, a process can do
// nothing on its device any more.
bool device_works(void);

// The counts of the emulator since the last reset. On a GPU all are zero.
typedef struct {
  uint64_t launches;
  uint64_t early_launches; // that may begin before the kernel before them has ended
  uint64_t blocks;
  uint64_t threads;
  uint64_t block_barriers;
  uint64_t warp_collectives;
  uint64_t
      tensor_core_operations;    // products of 2048 multiply-adds: m16n8k16; a wmma product is two
  uint64_t async_copy_bytes;     // read from global memory by cp.async
  uint64_t products_over_copies; // those above that began with copies by cp.async under way
  uint64_t products_in_the_first_half; // by the first half of the blocks, if some blocks must wait
  uint64_t collectives_under_products; // of warps whose products by wgmma are under way
  uint64_t named_barriers;             // one for each time a named barrier let its threads pass
  uint64_t product_groups_in_turns;    // from a wait at a named barrier to the next arrival at one
  uint64_t repeated_arrivals;          // of threads that come twice in a phase of a named barrier
  uint64_t copies_behind_kernels;      // from GPU to GPU, that the host queued to wait for a kernel
  unsigned grid[3];                    // of the last launch: x, y, z
} device_counts;
device_counts device_counts_read(void);
void device_counts_reset(void);

// Returns how many bytes have gone from one GPU to another since the last reset; 0 on a GPU.
uint64_t device_link_bytes(int from, int to);

// Returns how many faults the sanitizing emulator has reported; 0 on every other device.
uint64_t device_findings(void);

// Calls `visit` for every kernel in the program or shared object that holds `function`, and for every
// instance of a template, with its mangled name and whether this process has launched it. Returns false on a
// GPU, which does not know this.
bool device_visit_kernels(const void *function,
                          void (*visit)(const char *name, bool launched, void *context),
                          void *context);

// Sets the order in which the emulator runs threads; 0 is the plain order. Returns false on a GPU, where the
// order cannot be set.
bool device_set_schedule(uint64_t seed);

// From now on such an order is also one of blocks, of which any may be the last. Does nothing on a GPU.
void device_shuffle_blocks(void);

// Writes the address on the bus of CUDA's device of that number, by which NVML knows it, such as "0000:3b:00.0".
// Returns false on the emulator.
bool device_bus_id(int device, char *text, size_t size);

// Tells whether the device works asynchronously while the host goes on. The emulator runs every launch to its
// end before the call returns.
bool device_runs_behind(void);

// Keeps a GPU busy for so many clock cycles of a multiprocessor, so that the work that the host enqueues
// meanwhile runs without a gap. Returns the launch's error. On the emulator it does nothing.
cudaError_t device_delay(long long clocks, cudaStream_t stream);

// Launches a kernel that does nothing. Its time is the shortest that a launch can take.
cudaError_t device_empty(cudaStream_t stream);

// A graph holds launches that the GPU replays together, without work by the host for each of them.
typedef struct device_graph device_graph;

// Makes a graph of the work that `enqueue` enqueues. If `stream` is NULL, the graph records on a stream of
// its own. The emulator keeps `enqueue` and `context` and calls them at each replay.
cudaError_t device_graph_record(cudaError_t (*enqueue)(void *context, cudaStream_t stream),
                                void *context, cudaStream_t stream, device_graph **graph);
cudaError_t device_graph_replay(const device_graph *graph, cudaStream_t stream);
void device_graph_free(device_graph *graph); // NULL is fine

// Waits until the stream has done its work, or until the event has happened, and returns as
// cudaStreamSynchronize and cudaEventSynchronize do. An endless kernel does not hang the program. After 60 s,
// or the number of seconds in the environment variable LAB_LIMIT (0 means never), it prints a sentence and
// ends the process with status 1. On the emulator there is nothing left to wait for, because its launches
// return when they are done and have their own limit.
cudaError_t device_wait(cudaStream_t stream);
cudaError_t device_wait_event(cudaEvent_t event);

// Returns that number of seconds; 0 for no limit. A bad one in LAB_LIMIT ends the process with a sentence and status 2.
double device_limit_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
