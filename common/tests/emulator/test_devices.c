// Tests several emulated devices in one process: memory, streams and events, and peers.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <cuda.h>
#include <pthread.h>
#include <string.h>

#include "devices.h"

// ---- What there is ------------------------------------------------------------------------------

Test(devices, are_as_many_as_asked_for, .init = two_gpus) {
  int count, device, can;
  struct cudaDeviceProp properties;
  OK(cudaGetDeviceCount(&count));
  cr_assert_eq(count, 2);
  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  cr_assert_eq(device, 1);
  OK(cudaGetDeviceProperties(&properties, 1));
  cr_assert_eq(cudaSetDevice(2), cudaErrorInvalidDevice);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  cr_assert(can);
  OK(cudaDeviceEnablePeerAccess(0, 0));
  cr_assert_eq(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  cr_assert_eq(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  OK(cudaDeviceDisablePeerAccess(0));
  cr_assert_eq(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
}

Test(devices, are_at_most_eight, .exit_code = 2) {
  int count;
  setenv("EMU_GPUS", "9", 1);
  cudaGetDeviceCount(&count);
}

Test(devices, may_lack_peer_access, .init = two_gpus) {
  int can;
  setenv("EMU_PEER_ACCESS", "0", 1);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  cr_assert_not(can);
  cr_assert_eq(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
}

Test(devices, own_memory_and_streams, .init = two_gpus) {
  struct cudaPointerAttributes attributes;
  float *memory = on_device(1, N, 0);
  OK(cudaPointerGetAttributes(&attributes, memory));
  cr_assert_eq(attributes.device, 1);
  const cudaStream_t stream = stream_on(1);
  OK(cudaSetDevice(0));
  devices_add(memory, memory, 1, N, stream);
  cr_assert_eq(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  cr_assert_eq(cudaMemcpyPeer(memory, 0, memory, 1, BYTES), cudaErrorInvalidValue);
}

Test(devices, set_attributes_of_kernels_one_by_one, .init = two_gpus) {
  OK(devices_allow_shared(100000));
  OK(devices_launch_shared(100000));
  OK(cudaSetDevice(1));
  cr_assert_eq(devices_launch_shared(100000), cudaErrorInvalidValue);
}

// ---- Order --------------------------------------------------------------------------------------

// A kernel of device 0, a copy to device 1, a kernel there, each in a stream of its own. Without one of the
// two waits the result is NaN.
static float *chain(bool copy_waits, bool kernel_waits) {
  float *a = on_device(0, N, 1), *b = on_device(1, N, 2), *out = on_device(1, N, 3);
  const cudaStream_t computes = stream_on(0), copies = stream_on(0), after = stream_on(1);
  OK(cudaSetDevice(0));
  devices_add(a, a, 4, N, computes);
  if (copy_waits) wait_for(computes, copies);
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, copies));
  if (kernel_waits) wait_for(copies, after);
  OK(cudaSetDevice(1));
  devices_add(b, out, 10, N, after);
  OK(cudaDeviceSynchronize());
  OK(cudaStreamSynchronize(copies));
  return out;
}

Test(devices, follow_events, .init = two_gpus) {
  expect_all(chain(true, true), N, 15);
  cr_assert_eq(emulator_link_bytes(0, 1), BYTES);
  cr_assert_eq(emulator_link_bytes(1, 0), 0);
}

// A copy may be behind a kernel by an event, or in the kernel's own stream. Copies to and from the host are not counted.
Test(devices, count_copies_behind_kernels, .init = two_gpus) {
  chain(false, true);
  cr_expect_eq(emulator_counts_read().copies_behind_kernels, 0);
  chain(true, true);
  cr_expect_eq(emulator_counts_read().copies_behind_kernels, 1);
  float *there = on_device(1, N, 0), *here = on_device(0, N, 5);
  const cudaStream_t stream = stream_on(0);
  devices_add(here, here, 1, N, stream);
  emulator_counts_reset(); // from here on that kernel does not matter
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, BYTES, stream));
  cr_expect_eq(emulator_counts_read().copies_behind_kernels, 0);
  devices_add(here, here, 1, N, stream);
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, BYTES, stream));
  OK(cudaStreamSynchronize(stream));
  expect_all(there, N, 7);
  cr_expect_eq(emulator_counts_read().copies_behind_kernels, 1);
}

Test(devices, show_a_kernel_that_does_not_wait, .init = two_gpus) {
  expect_poison(chain(true, false), N);
}

Test(devices, show_a_copy_that_does_not_wait, .init = two_gpus) {
  expect_poison(chain(false, true), N);
}

Test(devices, wait_for_the_default_stream, .init = two_gpus) {
  float *a = on_device(0, N, 1), *b = on_device(0, N, 2);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, NULL));
  devices_add(b, b, 1, N, stream);
  OK(cudaMemcpyAsync(a, b, BYTES, cudaMemcpyDeviceToDevice, NULL));
  OK(cudaStreamSynchronize(NULL));
  expect_all(a, N, 2);
}

// They return before they are done, and a stream that does not wait for the default stream comes too early.
Test(devices, fill_and_copy_while_the_host_goes_on, .init = two_gpus) {
  float *a = on_device(0, N, 1), *b = on_device(0, N, 2), *c = on_device(0, N, 3);
  float *of_a = on_device(0, N, 0), *of_b = on_device(0, N, 0);
  const cudaStream_t stream = stream_on(0);
  OK(cudaMemset(a, 0, BYTES));
  devices_add(a, of_a, 1, N, stream);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(b, c, BYTES, cudaMemcpyDeviceToDevice));
  devices_add(b, of_b, 1, N, stream);
  OK(cudaStreamSynchronize(stream));
  expect_poison(of_a, N);
  expect_poison(of_b, N);
  expect_all(a, N, 0);
  expect_all(b, N, 3);
}

// Copies between devices come before all later work of both.
Test(devices, copy_to_another_device_at_once, .init = two_gpus) {
  float *a = on_device(1, N, 1), *b = on_device(0, N, 2), *out = on_device(0, N, 0);
  const cudaStream_t stream = stream_on(0);
  OK(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice));
  devices_add(b, out, 1, N, stream);
  OK(cudaStreamSynchronize(stream));
  expect_all(out, N, 2);
}

Test(devices, work_while_the_host_asks, .init = two_gpus) {
  float *a = on_device(0, N, 1), *b = on_device(1, N, 2);
  const cudaStream_t stream = stream_on(1);
  cudaEvent_t begin, end;
  float milliseconds;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(begin, stream));
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, stream));
  devices_add(b, b, 1, N, stream);
  OK(cudaEventRecord(end, stream));
  int asked = 0;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) asked++;
  cr_assert_gt(asked, 0);
  OK(cudaEventQuery(end));
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  cr_assert_geq(milliseconds, 0);
  OK(cudaEventDestroy(begin));
  OK(cudaEventDestroy(end));
  expect_all(b, N, 2);
}

// Two rounds of two slices: a kernel for each slice waits for its copy. The copies of the second round must wait for the
// kernels of the first, or they may overwrite what these still read. Returns whether all results are right.
static bool run_rounds(bool wait) {
  float *from = on_device(1, 2 * N, 1), *slices = on_device(0, 2 * N, 0);
  float *out = on_device(0, 4 * N, 0);
  const cudaStream_t copies = stream_on(0), computes = stream_on(0);
  for (int round = 0; round < 2; round++) {
    if (wait) wait_for(computes, copies);
    for (int slice = 0; slice < 2; slice++) {
      float *place = slices + slice * N;
      OK(cudaMemcpyPeerAsync(place, 0, from + slice * N, 1, BYTES, copies));
      wait_for(copies, computes);
      devices_add(place, out + (2 * round + slice) * N, 1, N, computes);
    }
  }
  OK(cudaDeviceSynchronize());
  float *host = read_back(out, 4 * N);
  bool right = true;
  for (int i = 0; i < 4 * N; i++) right = right && host[i] == 2;
  free(host);
  return right;
}

Test(devices, run_in_any_order_with_a_seed, .init = two_gpus) {
  enum { SEEDS = 5 };
  int wrong = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    emulator_set_seed(seed);
    cr_assert(run_rounds(true), "seed %d", (int)seed);
    wrong += !run_rounds(false);
  }
  cr_assert_gt(wrong, 0, "no order shows that the copies do not wait");
}

// Enqueues the write of a word by the driver's function.
static void write_word(int *word, int value, cudaStream_t stream) {
  CUresult (*write)(CUstream, CUdeviceptr, cuuint32_t, unsigned) = NULL;
  enum cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", (void **)&write, 12000,
                                      cudaEnableDefault, &found));
  cr_assert_eq(found, cudaDriverEntryPointSuccess);
  cr_assert_eq(write(stream, (CUdeviceptr)word, (cuuint32_t)value, 0), CUDA_SUCCESS);
}

Test(devices, deliver_to_a_kernel_that_polls, .init = two_gpus) {
  enum { SLICE = 100 };
  float *far = on_device(1, 3 * SLICE, 7), *near = on_device(0, 3 * SLICE, 0);
  float *out = on_device(0, 3 * SLICE, 0);
  int *flags, *ones;
  const cudaStream_t copies = stream_on(0), computes = stream_on(0);
  OK(cudaMalloc((void **)&flags, 3 * sizeof *flags));
  OK(cudaMemset(flags, 0, 3 * sizeof *flags));
  OK(cudaMalloc((void **)&ones, sizeof *ones));
  OK(cudaMemset(ones, 1, sizeof *ones));
  OK(cudaDeviceSynchronize()); // the host does not wait for cudaMemset
  devices_poll(near, flags, out, SLICE, computes);
  for (int i = 0; i < 3; i++) {
    OK(cudaMemcpyPeerAsync(near + i * SLICE, 0, far + i * SLICE, 1, SLICE * sizeof *far, copies));
    if (i == 0) {
      write_word(&flags[i], 1, copies);
    } else {
      OK(cudaMemcpyAsync(&flags[i], ones, sizeof *ones, cudaMemcpyDeviceToDevice, copies));
    }
  }
  OK(cudaDeviceSynchronize());
  expect_all(out, 3 * SLICE, 7);
}

// ---- The host's memory --------------------------------------------------------------------------

Test(devices, read_pinned_memory_late_and_other_memory_at_once, .init = two_gpus) {
  float *memory = on_device(0, 2, 0), *pinned, pageable = 1;
  const cudaStream_t stream = stream_on(0);
  OK(cudaHostAlloc((void **)&pinned, sizeof *pinned, cudaHostAllocDefault));
  *pinned = 1;
  OK(cudaMemcpyAsync(memory, pinned, sizeof *pinned, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyAsync(memory + 1, &pageable, sizeof pageable, cudaMemcpyHostToDevice, stream));
  *pinned = 2; // too early
  pageable = 2;
  OK(cudaStreamSynchronize(stream));
  expect_poison(memory, 1);
  expect_all(memory + 1, 1, 1);
}

// ---- A host thread for each device --------------------------------------------------------------

static void *add_many(void *argument) {
  const int device = *(const int *)argument;
  float *memory = on_device(device, N, 0), *copy = on_device(device, N, 0);
  const cudaStream_t stream = stream_on(device);
  for (int round = 0; round < 50; round++) {
    devices_add(memory, memory, 1, N, stream);
    OK(cudaMemcpyAsync(copy, memory, BYTES, cudaMemcpyDeviceToDevice, stream));
    if (round % 10 == device) OK(cudaStreamSynchronize(stream));
  }
  OK(cudaStreamSynchronize(stream));
  expect_all(copy, N, 50);
  OK(cudaFree(memory));
  return NULL;
}

Test(devices, have_host_threads, .init = two_gpus) {
  int numbers[2] = {0, 1};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add_many, &numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
