// The GPU whose limits the emulator imposes; the environment variable EMU_GPU chooses it.
#ifndef GPU_H
#define GPU_H

#include <stddef.h>

typedef struct {
  const char *key;  // the value of EMU_GPU
  const char *name; // as cudaGetDeviceProperties returns it
  int major, minor; // compute capability
  int multiprocessors;
  size_t memory_bytes;
  int shared_per_block;        // without opting in; static and dynamic together
  int shared_per_block_opt_in; // with cudaFuncSetAttribute
  int shared_per_multiprocessor;
  int shared_reserved;    // bytes of shared memory that CUDA takes from each block
  int shared_granularity; // bytes; shared memory is allocated in units of this size
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int l2_bytes;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
} gpu;

// Limits that all GPUs of the table share (CUDA C++ Programming Guide, "Compute Capabilities",
// table "Technical Specifications per Compute Capability").
enum {
  GPU_WARP_LANES = 32,
  GPU_THREADS_PER_BLOCK = 1024,
  GPU_BLOCK_DIM_Z = 64,
  GPU_GRID_DIM_X = 2147483647,
  GPU_GRID_DIM_YZ = 65535, // unless EMU_GRID_LIMIT says less: see emulator_grid_limit
  GPU_REGISTERS = 65536,   // per block and per multiprocessor
  GPU_CONSTANT_BYTES = 65536
};

// The selected GPU. When EMU_GPU names none of the table, it
// prints a sentence that lists the GPUs and exits with status 2.
const gpu *gpu_selected(void);

// Returns how many multiprocessors the emulated GPU has: those of the selected one, or as many as the environment
// variable EMU_MULTIPROCESSORS says. A build that watches kernels has fewer where the variable is not set.
int gpu_multiprocessors(void);

// Returns the bytes of the L2 cache that the emulated GPU reports: those of the selected one, or as many as the
// environment variable EMU_L2_BYTES says.
int gpu_l2_bytes(void);

// Returns how many multiprocessors a cooperative launch may fill. A program may know their number without asking, so here a
// build that watches kernels has all that the GPU has.
int gpu_cooperative_multiprocessors(void);

#endif
