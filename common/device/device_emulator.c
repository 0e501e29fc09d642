// The emulator counts the operations of a kernel, and runs its threads in any order that is asked
// for.
#include "device/device.h"
#include "emulator.h"
#include <stdlib.h>

device_counts device_counts_read(void) {
  const emulator_counts counts = emulator_counts_read();
  return (device_counts){
      .launches = counts.launches,
      .early_launches = counts.early_launches,
      .blocks = counts.blocks,
      .threads = counts.threads,
      .block_barriers = counts.block_barriers,
      .warp_collectives = counts.warp_collectives,
      .tensor_core_operations = counts.tensor_core_operations,
      .async_copy_bytes = counts.async_copy_bytes,
      .products_over_copies = counts.products_over_copies,
      .products_in_the_first_half = counts.products_in_the_first_half,
      .collectives_under_products = counts.collectives_under_products,
      .named_barriers = counts.named_barriers,
      .product_groups_in_turns = counts.product_groups_in_turns,
      .repeated_arrivals = counts.repeated_arrivals,
      .copies_behind_kernels = counts.copies_behind_kernels,
      .grid = {counts.grid[0], counts.grid[1], counts.grid[2]},
  };
}

void device_counts_reset(void) { emulator_counts_reset(); }

uint64_t device_link_bytes(int from, int to) { return emulator_link_bytes(from, to); }

uint64_t device_findings(void) { return emulator_findings(); }

bool device_visit_kernels(const void *function,
                          void (*visit)(const char *name, bool launched, void *context),
                          void *context) {
  return emulator_visit_kernels(function, visit, context);
}

bool device_set_schedule(uint64_t seed) {
  emulator_set_seed(seed);
  return true;
}

void device_shuffle_blocks(void) { emulator_shuffle_blocks(); }

bool device_bus_id(int device, char *text, size_t size) {
  (void)device, (void)text, (void)size;
  return false;
}

bool device_runs_behind(void) { return false; }

cudaError_t device_delay(long long clocks, cudaStream_t stream) {
  (void)clocks, (void)stream;
  return cudaSuccess;
}

cudaError_t device_empty(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}

// --- graphs; the emulator has none, so a replay enqueues again

struct device_graph {
  cudaError_t (*enqueue)(void *context, cudaStream_t stream);
  void *context;
};

cudaError_t device_graph_record(cudaError_t (*enqueue)(void *context, cudaStream_t stream),
                                void *context, cudaStream_t stream, device_graph **graph) {
  (void)stream;
  *graph = malloc(sizeof **graph);
  if (!*graph) return cudaErrorMemoryAllocation;
  **graph = (device_graph){enqueue, context};
  return cudaSuccess;
}

cudaError_t device_graph_replay(const device_graph *graph, cudaStream_t stream) {
  return graph->enqueue(graph->context, stream);
}

void device_graph_free(device_graph *graph) { free(graph); }
