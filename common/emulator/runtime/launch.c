#define _GNU_SOURCE
#include "launch.h"

#include "cluster_launch.h"
#include "environment.h"
#include "errors.h"
#include "function.h"
#include "gpu.h"
#include "graph.h"
#include "kernels.h"
#include "links.h"
#include "memory.h"
#include "observer.h"
#include "queue.h"
#include "shared_memory.h"
#include "static_shared.h"
#include "workers.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // one launch at a time; guards these:
static emulator_counts totals;
static uint64_t seed, launches_since_seed;
static bool seed_known, shuffle_blocks;
static bool any_grid;

void emulator_take_any_grid(void) { any_grid = true; }

cudaError_t launch_refuse(const char *kernel, cudaError_t error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr);
  fprintf(stderr, "========= Launch of %s: ", kernel);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
  va_end(arguments);
  return error;
}

#define refuse(request, ...) launch_refuse((request)->name, cudaErrorInvalidValue, __VA_ARGS__)

// Refuses the launches that a GPU refuses, and says why, which a GPU does not. CUDA 13.0 on an H200 returns
// cudaErrorInvalidValue for each; its manual and older versions return cudaErrorInvalidConfiguration for a bad grid or
// block.
static cudaError_t check(const emulator_launch_request *request) {
  const dim3 grid = request->grid, block = request->block;
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (threads == 0 || block.x > GPU_THREADS_PER_BLOCK || block.y > GPU_THREADS_PER_BLOCK ||
      block.z > GPU_BLOCK_DIM_Z || threads > GPU_THREADS_PER_BLOCK) {
    return refuse(request, "a block of %u x %u x %u threads; it takes 1 to %d, and at most %d in z",
                  block.x, block.y, block.z, GPU_THREADS_PER_BLOCK, GPU_BLOCK_DIM_Z);
  }
  unsigned most_yz = (unsigned)emulator_grid_limit();
  if (!any_grid && observer_blocks_yz() < most_yz) most_yz = observer_blocks_yz();
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > GPU_GRID_DIM_X || grid.y > most_yz ||
      grid.z > most_yz) {
    return refuse(
        request, "a grid of %u x %u x %u blocks; y and z take 1 to %u here, and x to %d%s", grid.x,
        grid.y, grid.z, most_yz, GPU_GRID_DIM_X,
        most_yz < GPU_GRID_DIM_YZ ? " (on a GPU y and z take 65535; tests make the limit small)"
                                  : "");
  }
  const size_t fixed = static_shared_bytes(request->kernel);
  const size_t most_fixed = (size_t)gpu_selected()->shared_per_block;
  if (fixed > most_fixed) { // a program with such a kernel does not get past ptxas
    return refuse(request,
                  "%zu bytes of __shared__ variables, and a kernel may have %zu; more is for "
                  "extern __shared__ memory and cudaFuncAttributeMaxDynamicSharedMemorySize",
                  fixed, most_fixed);
  }
  const size_t most_bytes = function_dynamic_shared_limit(request->kernel);
  if (request->dynamic_shared_bytes > most_bytes) {
    return refuse(request,
                  "%zu bytes of dynamic shared memory, and the kernel may have %zu "
                  "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                  request->dynamic_shared_bytes, most_bytes);
  }
  const cudaError_t error = cluster_launch_check(request);
  return error == cudaSuccess ? cluster_launch_check_cooperative(request) : error;
}

// The caller must hold the mutex.
static void find_seed(void) {
  static bool asked;
  if (!asked && environment_number("EMU_SHUFFLE_BLOCKS", 0, 0, 1) == 1) shuffle_blocks = true;
  asked = true;
  if (!seed_known) seed = environment_number("EMU_SEED", 0, 0, UINT64_MAX);
  seed_known = true;
}

uint64_t launch_seed(void) {
  pthread_mutex_lock(&mutex);
  find_seed();
  const uint64_t found = seed;
  pthread_mutex_unlock(&mutex);
  return found;
}

static cudaError_t run(const emulator_launch_request *request, int device) {
  const dim3 grid = request->grid;
  find_seed();
  launch launch = {.request = request,
                   .device = device,
                   .queued = devices_several(),
                   .block_count = (uint64_t)grid.x * grid.y * grid.z,
                   .whole_grid = cluster_launch_whole_grid(request),
                   .cluster_dim = cluster_launch_dim(request),
                   .cluster_specified = cluster_launch_specified(request),
                   .number = launches_since_seed++,
                   .seed = seed,
                   .blocks_shuffled = shuffle_blocks && seed != 0};
  launch.cluster_blocks = launch.cluster_dim.x * launch.cluster_dim.y * launch.cluster_dim.z;
  launch.blocks_wait = launch.block_count > (uint64_t)gpu_multiprocessors();
  kernels_launched(request->kernel);
  shared_memory_find_module(&launch);
  shared_memory_choose_place(&launch);
  observer_launch_begin(&launch);
  const bool done = workers_run(&launch);
  observer_launch_end(&launch);
  if (!done) return cudaErrorMemoryAllocation;
  totals.launches++;
  totals.early_launches += request->early;
  totals.blocks += launch.counts.blocks;
  totals.threads += launch.counts.threads;
  totals.block_barriers += launch.counts.block_barriers;
  totals.warp_collectives += launch.counts.warp_collectives;
  totals.fiber_switches += launch.counts.fiber_switches;
  totals.tensor_core_operations += launch.counts.tensor_core_operations;
  totals.async_copy_bytes += launch.counts.async_copy_bytes;
  totals.async_copies_dropped += launch.counts.async_copies_dropped;
  totals.products_over_copies += launch.counts.products_over_copies;
  totals.products_in_the_first_half += launch.counts.products_in_the_first_half;
  totals.collectives_under_products += launch.counts.collectives_under_products;
  totals.named_barriers += launch.counts.named_barriers;
  totals.product_groups_in_turns += launch.counts.product_groups_in_turns;
  totals.repeated_arrivals += launch.counts.repeated_arrivals;
  totals.grid[0] = launch.request->grid.x;
  totals.grid[1] = launch.request->grid.y;
  totals.grid[2] = launch.request->grid.z;
  return errors_sticky_of(device);
}

// ---- Launched by kernels ------------------------------------------------------------------------

// A kernel that a kernel launches may begin at any time after its launch, and ends before its parent counts as ended
// (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). Here it begins when its parent's blocks have ended.
typedef struct child {
  emulator_launch_request request;
  void *arguments; // its own
  struct child *next;
} child;

static pthread_mutex_t children_mutex = PTHREAD_MUTEX_INITIALIZER; // guards these:
static child *children, **children_end = &children;

static cudaError_t launch_child(const emulator_launch_request *request) {
  if (check(request) != cudaSuccess) {
    emulator_fault(cudaErrorInvalidConfiguration,
                   "Launch of %s inside a kernel: no GPU can run this grid, block or shared memory",
                   request->name);
  }
  child *made = calloc(1, sizeof *made);
  if (made == NULL || posix_memalign(&made->arguments, 64, request->arguments_bytes + 64) != 0) {
    free(made);
    return cudaErrorMemoryAllocation;
  }
  memcpy(made->arguments, request->arguments, request->arguments_bytes);
  made->request = *request;
  made->request.arguments = made->arguments;
  pthread_mutex_lock(&children_mutex);
  *children_end = made;
  children_end = &made->next;
  pthread_mutex_unlock(&children_mutex);
  return cudaSuccess;
}

static child *take_child(void) {
  pthread_mutex_lock(&children_mutex);
  child *first = children;
  if (first != NULL) children = first->next;
  if (children == NULL) children_end = &children;
  pthread_mutex_unlock(&children_mutex);
  return first;
}

static cudaError_t run_with_children(const emulator_launch_request *request, int device) {
  cudaError_t error = run(request, device);
  for (child *next = take_child(); next != NULL; next = take_child()) {
    if (error == cudaSuccess) error = run(&next->request, device);
    free(next->arguments);
    free(next);
  }
  return error;
}

// ---- Queued, on several devices -----------------------------------------------------------------

// The operation's data: the request, and behind it the kernel's arguments.
enum { ARGUMENTS_AT = (sizeof(emulator_launch_request) + 127) / 128 * 128 };

static void run_queued(operation *operation) {
  const emulator_launch_request *request = operation->data;
  const int device = operation->stream->device;
  pthread_mutex_lock(&mutex);
  memory_close_to(device);
  const cudaError_t error = run_with_children(request, device);
  memory_open();
  pthread_mutex_unlock(&mutex);
  if (error != cudaSuccess) errors_set_sticky(device, error);
}

static cudaError_t queue(const emulator_launch_request *request) {
  static const operation_class launches = {.run = run_queued};
  const cudaStream_t stream = queue_stream(request->stream);
  if (stream->device != devices_current()) return cudaErrorInvalidResourceHandle;
  operation *made = queue_make(&launches, ARGUMENTS_AT + request->arguments_bytes);
  if (made == NULL) return cudaErrorMemoryAllocation;
  emulator_launch_request *copy = made->data;
  *copy = *request;
  copy->arguments = (char *)made->data + ARGUMENTS_AT;
  if (request->arguments_bytes > 0) {
    memcpy(copy->arguments, request->arguments, request->arguments_bytes);
  }
  queue_add(made, stream);
  return cudaSuccess;
}

cudaError_t emulator_launch(const emulator_launch_request *request) {
  if (emulator_current != NULL) return launch_child(request);
  devices_use_runtime();
  RETURN_IF_STICKY();
  cudaError_t error = check(request);
  if (error == cudaSuccess && graph_takes(request->stream)) return graph_capture_launch(request);
  if (error == cudaSuccess) error = graph_refuses_implicit(request->stream);
  if (error == cudaSuccess && devices_several()) {
    error = queue(request);
  } else if (error == cudaSuccess) {
    pthread_mutex_lock(&mutex);
    error = run_with_children(request, 0);
    pthread_mutex_unlock(&mutex);
  }
  if (error == cudaSuccess) return error;
  char why[256];
  snprintf(why, sizeof why, "in kernel %s", request->name);
  return errors_record_because(error, why);
}

void emulator_set_seed(uint64_t value) {
  pthread_mutex_lock(&mutex);
  seed = value;
  seed_known = true;
  launches_since_seed = 0;
  pthread_mutex_unlock(&mutex);
}

void emulator_shuffle_blocks(void) {
  pthread_mutex_lock(&mutex);
  shuffle_blocks = true;
  pthread_mutex_unlock(&mutex);
}

uint64_t emulator_findings(void) { return observer_findings(); }

emulator_counts emulator_counts_read(void) {
  pthread_mutex_lock(&mutex);
  emulator_counts counts = totals;
  pthread_mutex_unlock(&mutex);
  counts.copies_behind_kernels = queue_copies_behind_kernels();
  return counts;
}

void emulator_counts_reset(void) {
  pthread_mutex_lock(&mutex);
  totals = (emulator_counts){0};
  links_reset();
  pthread_mutex_unlock(&mutex);
  queue_count_copies();
}
