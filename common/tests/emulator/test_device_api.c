// Tests the emulator's host functions, in plain C as in host programs: memory, streams, errors.
#define _GNU_SOURCE
#include "emulator.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- Memory -------------------------------------------------------------------------------------

Test(memory, is_aligned_and_unreadable) {
  for (size_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 1) {
    unsigned char *memory;
    cr_assert_eq(cudaMalloc((void **)&memory, bytes), cudaSuccess);
    cr_assert_eq((uintptr_t)memory % 256, 0, "%zu bytes", bytes);
    unsigned char *host = malloc(bytes);
    cr_assert_eq(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < bytes; i++)
      cr_assert_eq(host[i], i % 2 == 0 ? 0xF9 : 0xFF, "byte %zu of %zu", i, bytes);
    free(host);
    cr_assert_eq(cudaFree(memory), cudaSuccess);
    cr_assert_eq(cudaFree(memory), cudaErrorInvalidValue, "freed twice");
  }
}

Test(memory, runs_out) {
  setenv("EMU_GPU", "l4", 1);
  size_t before, total, now;
  void *memory = (void *)1, *more;
  cr_assert_eq(cudaMemGetInfo(&before, &total), cudaSuccess);
  cr_assert_eq(before, total);
  cr_assert_leq(total, (size_t)23034 << 20);
  cr_assert_eq(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
  cr_assert_null(memory);
  cr_assert_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
  cr_assert_eq(cudaGetLastError(), cudaSuccess, "running out of memory is no lasting error");
  cr_assert_eq(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  cr_assert_eq(cudaMemGetInfo(&now, &total), cudaSuccess);
  cr_assert_eq(now, before - (1 << 20));
  cr_assert_eq(cudaMalloc(&more, total - (1 << 20) + 1), cudaErrorMemoryAllocation);
  cr_assert_eq(cudaMalloc(&more, SIZE_MAX), cudaErrorMemoryAllocation);
  cr_assert_eq(cudaFree(memory), cudaSuccess);
  cr_assert_eq(cudaMemGetInfo(&now, &total), cudaSuccess);
  cr_assert_eq(now, before);
}

Test(memory, wrong_pointers) {
  char host[64];
  char *memory, *pinned;
  cr_assert_eq(cudaFree(NULL), cudaSuccess);
  cr_assert_eq(cudaFree(host), cudaErrorInvalidValue);
  cr_assert_eq(cudaMalloc(NULL, 16), cudaErrorInvalidValue);
  cr_assert_eq(cudaMalloc((void **)&memory, 0), cudaSuccess);
  cr_assert_null(memory);
  cr_assert_eq(cudaMalloc((void **)&memory, 64), cudaSuccess);
  cr_assert_eq(cudaMallocHost((void **)&pinned, 64), cudaSuccess);
  cr_assert_eq(cudaFree(memory + 1), cudaErrorInvalidValue);
  cr_assert_eq(cudaFree(pinned), cudaErrorInvalidValue);
  cr_assert_eq(cudaFreeHost(memory), cudaErrorInvalidValue);
  cr_assert_eq(cudaFreeHost(pinned), cudaSuccess);
  cr_assert_eq(cudaFree(memory), cudaSuccess);
}

Test(memory, copies_are_checked) {
  char host[64] = {0}, *memory;
  cr_assert_eq(cudaMalloc((void **)&memory, 40), cudaSuccess);
  const struct {
    const char *what;
    void *destination;
    const void *source;
    size_t bytes;
    enum cudaMemcpyKind kind;
    cudaError_t error;
  } cases[] = {
      {"in", memory, host, 40, cudaMemcpyHostToDevice, cudaSuccess},
      {"out", host, memory + 8, 32, cudaMemcpyDeviceToHost, cudaSuccess},
      {"out by default", host, memory, 40, cudaMemcpyDefault, cudaSuccess},
      {"between host arrays", host, host + 32, 8, cudaMemcpyHostToHost, cudaSuccess},
      {"nothing", NULL, NULL, 0, cudaMemcpyHostToDevice, cudaSuccess},
      {"past the end", memory, host, 41, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {"past the end from inside", host, memory + 8, 33, cudaMemcpyDeviceToHost,
       cudaErrorInvalidValue},
      {"past the end by default", memory, host, 41, cudaMemcpyDefault, cudaErrorInvalidValue},
      {"kind reversed", memory, host, 8, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {"host as device", host, memory, 8, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {"device as host", memory, host, 8, cudaMemcpyHostToHost, cudaErrorInvalidValue},
      {"null", memory, NULL, 8, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {"no kind", memory, host, 8, (enum cudaMemcpyKind)5, cudaErrorInvalidMemcpyDirection},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const cudaError_t error =
        cudaMemcpy(cases[i].destination, cases[i].source, cases[i].bytes, cases[i].kind);
    cr_assert_eq(error, cases[i].error, "%s: %s", cases[i].what, cudaGetErrorName(error));
    cr_assert_eq(cudaGetLastError(), cases[i].error, "%s", cases[i].what);
  }
  cr_assert_eq(cudaMemset(memory, 0, 40), cudaSuccess);
  cr_assert_eq(cudaMemset(memory, 0, 41), cudaErrorInvalidValue);
  cr_assert_eq(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
  cr_assert_eq(cudaFree(memory), cudaSuccess);
  cr_assert_eq(cudaMemcpy(host, memory, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue, "freed");
}

Test(memory, reset_frees_all) {
  size_t before, total, now;
  void *memory;
  cudaMemGetInfo(&before, &total);
  for (int i = 0; i < 100; i++) cr_assert_eq(cudaMalloc(&memory, 1000), cudaSuccess);
  cr_assert_eq(cudaDeviceReset(), cudaSuccess);
  cudaMemGetInfo(&now, &total);
  cr_assert_eq(now, before);
  cr_assert_eq(cudaFree(memory), cudaErrorInvalidValue);
}

// A copy to a variable of the device, or from it, has one side that is not the host's.
Test(memory, directions_of_variables) {
  static int variable;
  int value = 7;
  cr_assert_eq(cudaMemcpyToSymbol(&variable, &value, sizeof value, 0, cudaMemcpyHostToHost),
               cudaErrorInvalidMemcpyDirection);
  cr_assert_eq(cudaMemcpyToSymbol(&variable, &value, sizeof value, 0, cudaMemcpyDeviceToHost),
               cudaErrorInvalidMemcpyDirection);
  cr_assert_eq(cudaMemcpyFromSymbol(&value, &variable, sizeof value, 0, cudaMemcpyHostToHost),
               cudaErrorInvalidMemcpyDirection);
  cr_assert_eq(cudaMemcpyFromSymbol(&value, &variable, sizeof value, 0, cudaMemcpyHostToDevice),
               cudaErrorInvalidMemcpyDirection);
  cr_assert_eq(cudaMemcpyToSymbol(&variable, &value, sizeof value, 0, cudaMemcpyHostToDevice),
               cudaSuccess);
  cr_assert_eq(variable, 7);
}

// ---- Streams, events, errors --------------------------------------------------------------------

Test(streams, wrong_handles) {
  cudaStream_t stream;
  cudaEvent_t timed, untimed;
  float milliseconds;
  cr_assert_eq(cudaStreamCreateWithFlags(&stream, 77), cudaErrorInvalidValue);
  cr_assert_eq(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
  cr_assert_eq(cudaEventCreate(&timed), cudaSuccess);
  cr_assert_eq(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  cr_assert_eq(cudaEventElapsedTime(&milliseconds, timed, timed), cudaErrorInvalidResourceHandle,
               "not recorded yet");
  cr_assert_eq(cudaEventRecord(timed, NULL), cudaSuccess);
  cr_assert_eq(cudaEventRecord(untimed, NULL), cudaSuccess);
  cr_assert_eq(cudaEventElapsedTime(&milliseconds, timed, timed), cudaSuccess);
  cr_assert_eq(milliseconds, 0);
  cr_assert_eq(cudaEventElapsedTime(&milliseconds, timed, untimed), cudaErrorInvalidResourceHandle);
  cr_assert_eq(cudaEventDestroy(timed), cudaSuccess);
  cr_assert_eq(cudaEventDestroy(untimed), cudaSuccess);
}

Test(errors, names_and_strings) {
  static const struct {
    cudaError_t error;
    const char *name, *string;
  } cases[] = {
      {cudaSuccess, "cudaSuccess", "no error"},
      {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
      {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
      {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
       "invalid configuration argument"},
      {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
       "an illegal memory access was encountered"},
      {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
      {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
      {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
      {(cudaError_t)12345, "unrecognized error code", "unrecognized error code"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_assert_str_eq(cudaGetErrorName(cases[i].error), cases[i].name);
    cr_assert_str_eq(cudaGetErrorString(cases[i].error), cases[i].string);
  }
}
