// On a GPU: a kernel that rotates over as many sets of buffers as timing_rotations says finds them
// outside the L2 cache, for small sets as for large ones. One kernel follows a chain of places, so
// that its time is a latency; a second one reads the whole set in a small part of that time, as a
// real kernel does. A launch after the cache was filled with other data shows the latency of memory.
#include "cold_cache.h"
#include "device/device.h"
#include "timing/figures.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { STEPS = 512 };

typedef struct {
  char *memory;
  size_t bytes; // of a set
  unsigned *end;
  unsigned *other; // fills the cache
  size_t other_bytes;
} buffers;

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  const buffers *own = context;
  const unsigned *set = (const unsigned *)(own->memory + rotation * own->bytes);
  const cudaError_t status = follow(set, STEPS, own->end, stream);
  return status != cudaSuccess ? status : read_all(set, own->bytes, own->end, stream);
}

// Places that lie as far apart as STEPS of them can in a set, in an order that no prefetch foresees.
static void fill(buffers *own, size_t sets) {
  const size_t count = own->bytes / sizeof(unsigned);
  unsigned *places = calloc(count, sizeof *places);
  cr_assert(places);
  const size_t apart = count / STEPS;
  for (size_t i = 0; i < STEPS; i++) {
    const size_t place =
        i * 197 % STEPS; // 197 and STEPS have no divisor in common: each place once
    const size_t next = (i + 1) * 197 % STEPS;
    places[place * apart] = (unsigned)(next * apart);
  }
  for (size_t i = 0; i < sets; i++) {
    cr_assert_eq(
        cudaMemcpy(own->memory + i * own->bytes, places, own->bytes, cudaMemcpyHostToDevice),
        cudaSuccess);
  }
  free(places);
}

static double time_with(buffers *own, size_t rotations) {
  static timing_burst bursts[TIMING_MOST_ROUNDS];
  timing_contender one = {"follow", launch, own, bursts, 0, NULL, false};
  timing_plan plan = timing_default_plan();
  plan.rotations = rotations;
  plan.graph_below_ms = 0;
  error_text error;
  cr_assert(timing_run(&plan, &one, 1, NULL, &error), "%s", error.text);
  return 1e3 * timing_figure(&one).times.median;
}

// The same kernel when nothing of its buffer can be in the cache.
static double time_from_memory(buffers *own) {
  double times[9];
  cudaEvent_t before, after;
  cudaEventCreate(&before), cudaEventCreate(&after);
  for (size_t i = 0; i < 9; i++) {
    float milliseconds = 0;
    cr_assert_eq(read_all(own->other, own->other_bytes, own->end, NULL), cudaSuccess);
    device_delay(50000, NULL);
    cudaEventRecord(before, NULL);
    cr_assert_eq(launch(own, 0, NULL), cudaSuccess);
    cudaEventRecord(after, NULL);
    cr_assert_eq(cudaEventSynchronize(after), cudaSuccess);
    cudaEventElapsedTime(&milliseconds, before, after);
    times[i] = 1e3 * (double)milliseconds;
  }
  cudaEventDestroy(before), cudaEventDestroy(after);
  return statistics_median(times, 9);
}

Test(cold_cache, sets_in_turn_are_outside_the_cache) {
  static const size_t sizes[] = {3u << 19, 8u << 20, 64u << 20}; // the first is 1.5 MB
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    buffers own = {.bytes = sizes[i], .other_bytes = 8 * device.l2_bytes};
    const size_t sets = timing_rotations(own.bytes, device.l2_bytes);
    cr_assert(cudaMalloc((void **)&own.memory, sets * own.bytes) == cudaSuccess &&
              cudaMalloc((void **)&own.end, sizeof *own.end) == cudaSuccess &&
              cudaMalloc((void **)&own.other, own.other_bytes) == cudaSuccess);
    cr_assert_eq(cudaMemset(own.other, 0, own.other_bytes), cudaSuccess);
    fill(&own, sets);
    const double memory = time_from_memory(&own);
    const double warm = time_with(&own, 1);
    const double rotated = time_with(&own, sets);
    printf("%zu sets of %zu bytes: %.1f us one set, %.1f us in turn, %.1f us from memory\n", sets,
           own.bytes, warm, rotated, memory);
    cr_expect(rotated > 0.85 * memory && rotated < 1.15 * memory,
              "sets of %zu bytes: %.1f us in turn, and %.1f us from memory", own.bytes, rotated,
              memory);
    // One set that fits into the cache is found there: without turns, this is what would be measured.
    cr_expect(warm < 0.8 * memory || own.bytes > device.l2_bytes / 2,
              "one set of %zu bytes: %.1f us is no time of a cache, %.1f us is memory's", own.bytes,
              warm, memory);
    cudaFree(own.memory), cudaFree(own.end), cudaFree(own.other);
  }
}
