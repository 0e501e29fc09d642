// For the tests of kernels with faults: the emulator's report, and the errors that it returns afterwards.
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A launch without a fault; true when its result is right. Each test file has its own.
bool healthy_launch(void);

// Returns the text that `action` writes to stderr; free it.
static inline char *stderr_of(void (*action)(void)) {
  FILE *file = tmpfile();
  const int kept = dup(STDERR_FILENO);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  action();
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  const long length = ftell(file) >= 0 && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
  rewind(file);
  char *text = calloc((size_t)length + 1, 1);
  cr_assert_eq(fread(text, 1, (size_t)length, file), (size_t)length);
  fclose(file);
  return text;
}

typedef struct {
  void (*launch)(void);
  cudaError_t error;
  const char *says[6]; // in this order
} fault_case;

// Launches, and compares the report and the errors of later calls.
static inline void expect_report(const fault_case *fault) {
  char *report = stderr_of(fault->launch);
  const char *rest = report;
  for (int i = 0; i < 6 && fault->says[i] != NULL; i++) {
    const char *found = strstr(rest, fault->says[i]);
    cr_assert_not_null(found, "the report lacks \"%s\":\n%s", fault->says[i], report);
    rest = found + strlen(fault->says[i]);
  }
  // Every function fails with the error until the device is reset.
  void *memory;
  for (int again = 0; again < 2; again++) {
    cr_assert_eq(cudaGetLastError(), fault->error, "%s after:\n%s",
                 cudaGetErrorName(cudaGetLastError()), report);
    cr_assert_eq(cudaDeviceSynchronize(), fault->error);
    cr_assert_eq(cudaStreamSynchronize(NULL), fault->error);
    cr_assert_eq(cudaMalloc(&memory, 16), fault->error);
  }
  cr_assert_not(healthy_launch());
  cr_assert_eq(cudaDeviceReset(), cudaSuccess);
  cr_assert_eq(cudaGetLastError(), cudaSuccess);
  cr_assert(healthy_launch(), "no launch works after:\n%s", report);
  free(report);
}

typedef struct {
  void (*launch)(void);
  cudaError_t error;
  const char *file;    // of the operation, and a colon
  const int *line;     // of the operation, which is known once the kernel has run
  const char *says[3]; // the operation, and what the report says behind its place
} line_case;

// The same with a report that names the operation's line.
static inline void expect_in_line(const line_case *fault) {
  setenv("EMU_WORKERS", "1", 1);
  free(stderr_of(fault->launch));
  cudaDeviceReset();
  char place[128];
  snprintf(place, sizeof place, "%s in %s%d", fault->says[0], fault->file, *fault->line);
  expect_report(
      &(fault_case){fault->launch, fault->error, {place, fault->says[1], fault->says[2]}});
}

#endif
