#define _GNU_SOURCE
#include "device/device.h"

#include "options/number.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60 };

double device_limit_seconds(void) {
  const char *text = getenv("LAB_LIMIT");
  float seconds = DEFAULT_SECONDS;
  error_text error;
  bool good = !text || !*text || number_parse_float("LAB_LIMIT", text, &seconds, &error);
  if (good && seconds < 0) good = fail(&error, "LAB_LIMIT is %s: give 0 or more seconds", text);
  if (!good) {
    fprintf(stderr, "error: %s\n", error.text);
    fflush(stdout);
    _exit(
        EXIT_BAD_INPUT); // without the functions of atexit, as the program did not end by a mistake of the step
  }
  return (double)seconds;
}

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// After a kernel that does not end, the process cannot use its context any more, because every other call
// would wait too.
__attribute__((noreturn)) static void give_up(double seconds) {
  fflush(stdout);
  fprintf(stderr,
          "error: the launch timed out: the GPU has worked for %g s and has not ended; a kernel is "
          "endless, or slow (LAB_LIMIT=%g waits longer, LAB_LIMIT=0 without end). The program ends "
          "here, because a GPU cannot be told to stop a kernel. With DEVICE=cpu the emulator names "
          "block, thread and line of an endless one.\n",
          seconds, 10 * seconds);
  _exit(EXIT_CHECK_FAILED);
}

// Asks until the work is done. At first it asks without a pause, as cudaEventSynchronize does, so that it
// notices the end of short work at once. Later it pauses, which leaves the core to other programs.
// CUDA keeps the answer "not ready" as its last error, which the caller must not find, as it is none.
static cudaError_t wait_until_done(cudaError_t (*ask)(const void *), const void *of) {
  const double spinning = 0.01;
  const double begin = now_seconds();
  for (;;) {
    const cudaError_t status = ask(of);
    if (status != cudaErrorNotReady) return status;
    if (cudaPeekAtLastError() == cudaErrorNotReady) cudaGetLastError();
    const double waited = now_seconds() - begin;
    if (waited <= spinning) continue;
    const double limit = device_limit_seconds();
    if (limit > 0 && waited > limit) give_up(limit);
    usleep(100);
  }
}

static cudaError_t ask_stream(const void *of) {
  const cudaStream_t *stream = of;
  return cudaStreamQuery(*stream);
}

static cudaError_t ask_event(const void *of) {
  const cudaEvent_t *event = of;
  return cudaEventQuery(*event);
}

cudaError_t device_wait(cudaStream_t stream) { return wait_until_done(ask_stream, &stream); }

cudaError_t device_wait_event(cudaEvent_t event) { return wait_until_done(ask_event, &event); }
