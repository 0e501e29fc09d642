// Values that threads of a block exchange, see emulator_offer_value.
#define _GNU_SOURCE
#include "block.h"

#include <string.h>

void emulator_offer_value(const void *value) { current_worker->running->offered = value; }

void emulator_offered_value(unsigned thread, void *value, size_t bytes) {
  const worker *worker = current_worker;
  if (thread < worker->thread_count && worker->threads[thread].state != THREAD_EXITED) {
    memcpy(value, worker->threads[thread].offered, bytes);
  } else {
    emulator_fault(cudaErrorLaunchFailure,
                   "A tile of several warps exchanges values with thread %u, which has ended or is "
                   "not in the block",
                   thread);
  }
}
