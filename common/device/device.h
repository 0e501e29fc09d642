// The machine that runs the kernels: a GPU, or the emulator in its place.
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
  bool emulated;          // then times mean nothing, and counts are there
  int compute_capability; // major * 10 + minor
  int multiprocessors;
  size_t memory_bytes;
  size_t l2_bytes;
} device_info;

// Selects device 0. False, with what to do about it, when there is none.
bool device_open(device_info *info, error_text *error);

// True for cudaSuccess; else fills the sentence "<what> failed: <CUDA's words> (<its name>)".
bool device_ok(cudaError_t status, const char *what, error_text *error);

// What the emulator has counted since the last reset. All zero on a GPU.
typedef struct {
  uint64_t launches;
  uint64_t blocks;
  uint64_t threads;
  uint64_t block_barriers;
  uint64_t warp_collectives;
  uint64_t
      tensor_core_operations; // products of 2048 multiply-adds: m16n8k16; a wmma product is two
  uint64_t async_copy_bytes;  // read from global memory by cp.async
} device_counts;
device_counts device_counts_read(void);
void device_counts_reset(void);

// How many faults the sanitizing emulator has reported; 0 for everything else.
uint64_t device_findings(void);

// Calls `visit` for every kernel in the program or shared object that holds `function`, instances of templates one by
// one, with its mangled name and whether this process has launched it. False on a GPU, which cannot tell.
bool device_visit_kernels(const void *function,
                          void (*visit)(const char *name, bool launched, void *context),
                          void *context);

// Sets the order in which the emulator runs threads: 0 is the plain order. False on a GPU, whose
// order nobody can set.
bool device_set_schedule(uint64_t seed);

// The GPU's place on the bus, by which NVML knows it, such as "0000:3b:00.0". False on the emulator.
bool device_bus_id(char *text, size_t size);

// Whether the device works through its queue while the host goes on. The emulator runs every launch to its
// end before the call returns.
bool device_runs_behind(void);

// Keeps a GPU busy for so many clocks of a multiprocessor, so that what the host enqueues meanwhile runs
// without a gap. Returns the launch's error. The emulator does nothing.
cudaError_t device_delay(long long clocks, cudaStream_t stream);

// A kernel that does nothing: the least that a launch can take.
cudaError_t device_empty(cudaStream_t stream);

// Launches that the GPU replays together, without the host's part of each.
typedef struct device_graph device_graph;

// Makes a graph of what `enqueue` enqueues; `stream` may be NULL, which stands for one of the graph's own.
// The emulator keeps `enqueue` and `context` and calls them at each replay.
cudaError_t device_graph_record(cudaError_t (*enqueue)(void *context, cudaStream_t stream),
                                void *context, cudaStream_t stream, device_graph **graph);
cudaError_t device_graph_replay(const device_graph *graph, cudaStream_t stream);
void device_graph_free(device_graph *graph); // NULL is fine

// Waits until the stream has done its work, or until the event has come, and returns as cudaStreamSynchronize
// and cudaEventSynchronize do. An endless kernel does not hang the program: after 60 s, or what the environment
// variable LAB_LIMIT says in seconds (0: never), it prints a sentence and ends the process with status 1. On
// the emulator nothing is left to wait for: its launches return when they are done, and it has a limit itself.
cudaError_t device_wait(cudaStream_t stream);
cudaError_t device_wait_event(cudaEvent_t event);

#ifdef __cplusplus
}
#endif

#endif
