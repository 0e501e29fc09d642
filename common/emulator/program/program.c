// Linked into every program that scripts/nvcc-cpu makes: says what runs it, and ends it as the mode asks.
#define _GNU_SOURCE
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef EMULATOR_COUNTED
#include "count/listing.h"
#endif

// A reader of the program's output may not want the line on stdout, so it is on stderr.
__attribute__((constructor)) static void greet(void) {
  static const char in_program = 0;
  emulator_take_any_grid();
  emulator_take_failures_for_faults();
  // A GPU's dynamic shared memory begins at a multiple of 1024, and published kernels count on some of it.
  emulator_align_dynamic_shared(&in_program, 256);
  struct cudaDeviceProp gpu;
  if (getenv("EMU_QUIET") != NULL || cudaGetDeviceProperties(&gpu, 0) != cudaSuccess) return;
  const char *name = strncmp(gpu.name, "Emulated ", 9) == 0 ? gpu.name + 9 : gpu.name;
  fprintf(stderr, "emulated %s\n", name);
}

// In a kernel CUDA's clock() counts the clocks of the GPU, and on the host it is the C library's.
clock_t clock(void) {
  struct timespec now;
  clock_gettime(emulator_current == NULL ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  const long long nanoseconds = now.tv_sec * 1000000000LL + now.tv_nsec;
  return (clock_t)(emulator_current == NULL ? nanoseconds / 1000 : nanoseconds);
}

#ifdef EMULATOR_COUNTED
__attribute__((destructor)) static void finish(void) {
  listing listing;
  error_text error = {0};
  fflush(stdout);
  if (!listing_take(&listing, &error) || !listing_print(stderr, &listing, "", &error)) {
    fprintf(stderr, "error: %s\n", error.text);
  } else {
    fputc('\n', stderr);
    listing_print_total(stderr, &listing);
  }
  listing_free(&listing);
}
#else
__attribute__((destructor)) static void finish(void) {
  if (emulator_findings() == 0) return;
  fflush(NULL);
  _exit(1); // the program itself may be content
}
#endif
