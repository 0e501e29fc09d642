// Tests what of the order of streams, events and transfers shows on several emulated devices before the host waits.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "devices.h"

// Memory of the current device that holds 8 or 16 bytes of 1, and the beginning of a copy of zeros to it. The stand-in's
// memory of a device can be read by the host.
static void begin_copy(size_t bytes, unsigned char *seen) {
  unsigned char *to, *zeros;
  const cudaStream_t stream = stream_on(0);
  OK(cudaMalloc((void **)&to, bytes));
  OK(cudaMalloc((void **)&zeros, bytes));
  OK(cudaMemset(to, 1, bytes));
  OK(cudaMemset(zeros, 0, bytes));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyAsync(to, zeros, bytes, cudaMemcpyDeviceToDevice, stream));
  memcpy(seen, to, bytes);
  OK(cudaStreamSynchronize(stream));
  for (size_t i = 0; i < bytes; i++) cr_expect_eq(to[i], 0, "byte %zu in the end", i);
}

// A kernel may poll a word that a copy writes, so it is the old one until the copy arrives. More bytes are NaN until then.
Test(device_order, words_stay_until_their_copy_arrives, .init = two_gpus) {
  unsigned char seen[16];
  begin_copy(8, seen);
  for (size_t i = 0; i < 8; i++) cr_expect_eq(seen[i], 1, "byte %zu of a word", i);
  begin_copy(16, seen);
  for (size_t i = 0; i < 16; i += 2) {
    uint16_t bits;
    memcpy(&bits, seen + i, sizeof bits);
    cr_expect_eq(bits, poison_bits(POISON_COPY), "byte %zu of more than a word", i);
  }
}

// An event that was never recorded holds nothing up.
Test(device_order, waits_for_no_event_that_was_not_recorded, .init = two_gpus, .timeout = 20) {
  unsigned char *memory, seen[16];
  cudaEvent_t event;
  const cudaStream_t stream = stream_on(0);
  OK(cudaEventCreate(&event));
  OK(cudaMalloc((void **)&memory, sizeof seen));
  OK(cudaStreamWaitEvent(stream, event, 0));
  OK(cudaMemsetAsync(memory, 3, sizeof seen, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(seen, memory, sizeof seen, cudaMemcpyDeviceToHost));
  cr_expect_eq(seen[15], 3);
}

// An event belongs to the device that was current when it was made, and each side of a copy to the device that is named.
Test(device_order, events_and_memory_belong_to_a_device, .init = two_gpus) {
  cudaEvent_t event;
  float *const first = on_device(0, 4, 0);
  OK(cudaEventCreate(&event));
  float *const second = on_device(1, 4, 0);
  cr_expect_eq(cudaEventRecord(event, stream_on(1)), cudaErrorInvalidResourceHandle);
  cr_expect_eq(cudaMemcpyPeer(second, 1, first, 1, 16), cudaErrorInvalidValue);
  cr_expect_eq(cudaMemcpyPeer(second, 0, first, 0, 16), cudaErrorInvalidValue);
  OK(cudaMemcpyPeer(second, 1, first, 0, 16));
  (void)cudaGetLastError();
}
