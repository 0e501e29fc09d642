#include "gpu.h"

#include "environment.h"
#include "error/error.h"
#include "observer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sources: CUDA C++ Programming Guide, "Compute Capabilities" (shared memory, threads and blocks); the sheet "GPU Data"
// of the CUDA Occupancy Calculator (what is reserved, and handed out at once, of shared memory);
// NVIDIA's data sheets and nvidia-smi of each GPU (memory, L2, clocks).
static const gpu table[] = {
    {.key = "h200",
     .name = "Emulated NVIDIA H200",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .memory_bytes = (size_t)143771 << 20,
     .shared_per_block = 49152,
     .shared_per_block_opt_in = 232448,
     .shared_per_multiprocessor = 233472,
     .shared_reserved = 1024,
     .shared_granularity = 128,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .l2_bytes = 60 << 20,
     .clock_khz = 1980000,
     .memory_clock_khz = 3201000,
     .memory_bus_bits = 6144},
    {.key = "a100",
     .name = "Emulated NVIDIA A100-SXM4-80GB",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .memory_bytes = (size_t)81920 << 20,
     .shared_per_block = 49152,
     .shared_per_block_opt_in = 166912,
     .shared_per_multiprocessor = 167936,
     .shared_reserved = 1024,
     .shared_granularity = 128,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .l2_bytes = 40 << 20,
     .clock_khz = 1410000,
     .memory_clock_khz = 1593000,
     .memory_bus_bits = 5120},
    {.key = "l4",
     .name = "Emulated NVIDIA L4",
     .major = 8,
     .minor = 9,
     .multiprocessors = 58,
     .memory_bytes = (size_t)23034 << 20,
     .shared_per_block = 49152,
     .shared_per_block_opt_in = 101376,
     .shared_per_multiprocessor = 102400,
     .shared_reserved = 1024,
     .shared_granularity = 128,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 24,
     .l2_bytes = 48 << 20,
     .clock_khz = 2040000,
     .memory_clock_khz = 6251000,
     .memory_bus_bits = 192},
    {.key = "t4",
     .name = "Emulated Tesla T4",
     .major = 7,
     .minor = 5,
     .multiprocessors = 40,
     .memory_bytes = (size_t)15360 << 20,
     .shared_per_block = 49152,
     .shared_per_block_opt_in = 65536,
     .shared_per_multiprocessor = 65536,
     .shared_reserved = 0,
     .shared_granularity = 256,
     .threads_per_multiprocessor = 1024,
     .blocks_per_multiprocessor = 16,
     .l2_bytes = 4 << 20,
     .clock_khz = 1590000,
     .memory_clock_khz = 5001000,
     .memory_bus_bits = 256},
};

const gpu *gpu_selected(void) {
  const size_t count = sizeof table / sizeof table[0];
  const char *wanted = getenv("EMU_GPU");
  if (wanted == NULL || wanted[0] == '\0') return &table[0];
  for (size_t i = 0; i < count; i++) {
    if (strcmp(wanted, table[i].key) == 0) return &table[i];
  }
  fprintf(stderr, "error: EMU_GPU is \"%s\", which the emulator does not know: use",
          error_printable(wanted).text);
  for (size_t i = 0; i < count; i++) fprintf(stderr, "%s %s", i > 0 ? "," : "", table[i].key);
  fprintf(stderr, "\n");
  environment_refuse();
}

int gpu_l2_bytes(void) {
  return (int)environment_number("EMU_L2_BYTES", (uint64_t)gpu_selected()->l2_bytes, 1, INT_MAX);
}

static int asked_for(unsigned otherwise) {
  return (int)environment_number("EMU_MULTIPROCESSORS", otherwise, 1, INT_MAX);
}

int gpu_multiprocessors(void) {
  const unsigned real = (unsigned)gpu_selected()->multiprocessors;
  const unsigned most = observer_multiprocessors();
  return asked_for(real < most ? real : most);
}

int gpu_cooperative_multiprocessors(void) {
  return asked_for((unsigned)gpu_selected()->multiprocessors);
}
