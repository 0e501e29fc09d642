#include "timing/timing.h"

#include "device/device.h"
#include "progress/progress.h"

size_t timing_rotations(size_t bytes, size_t l2_bytes) {
  const size_t most = 64;
  if (bytes == 0) return 1;
  const size_t sets = (2 * l2_bytes + bytes - 1) / bytes;
  return sets < 1 ? 1 : sets > most ? most : sets;
}

static bool time_one(timing_contender *contender, size_t rotation, cudaStream_t stream,
                     cudaEvent_t before, cudaEvent_t after, float *milliseconds,
                     error_text *error) {
  return device_ok(cudaEventRecord(before, stream), contender->name, error) &&
         device_ok(contender->launch(contender->context, rotation, stream), contender->name,
                   error) &&
         device_ok(cudaEventRecord(after, stream), contender->name, error) &&
         device_ok(cudaEventSynchronize(after), contender->name, error) &&
         device_ok(cudaEventElapsedTime(milliseconds, before, after), contender->name, error);
}

bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error) {
  cudaEvent_t before = NULL;
  cudaEvent_t after = NULL;
  bool good = device_ok(cudaEventCreate(&before), "creating an event", error) &&
              device_ok(cudaEventCreate(&after), "creating an event", error);

  const size_t rounds = plan->warm_up + plan->samples;
  progress bar = progress_start("timing", rounds * count);
  for (size_t round = 0; round < rounds && good; round++) {
    for (size_t i = 0; i < count && good; i++) {
      float milliseconds = 0;
      good = time_one(&contenders[i], round % plan->rotations, stream, before, after, &milliseconds,
                      error);
      if (round >= plan->warm_up) {
        contenders[i].milliseconds[round - plan->warm_up] = (double)milliseconds;
      }
      progress_show(&bar, round * count + i + 1);
    }
  }
  progress_end(&bar);
  if (before) cudaEventDestroy(before);
  if (after) cudaEventDestroy(after);
  return good;
}
