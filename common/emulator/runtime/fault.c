// GNU's longjmp with _FORTIFY_SOURCE mistakes a jump from a fiber's stack for a corrupted stack.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "fault.h"

#include "code_line.h"
#include "errors.h"
#include "observer.h"
#include "plural.h"
#include "shared_memory.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fault_leave(worker *worker) { siglongjmp(worker->lead->abandoned, ABANDONED_QUIETLY); }

bool fault_abandon(worker *worker, cudaError_t error) {
  if (atomic_exchange(&worker->launch->abandoned, true)) return false;
  errors_set_sticky(worker->launch->device, error);
  return true;
}

// A report is written in one piece, because several programs may report at a time, as the tests of a step do.
static FILE *report;
static char *report_text;
static size_t report_bytes;

bool fault_report_begin(worker *worker, cudaError_t error) {
  if (!fault_abandon(worker, error)) return false;
  observer_fault(worker);
  fflush(stdout); // what the kernel printed comes before the report
  flockfile(stderr);
  report = open_memstream(&report_text, &report_bytes);
  return true;
}

static void write_report(void) {
  if (report != NULL && fclose(report) == 0) fwrite(report_text, 1, report_bytes, stderr);
  report = NULL;
  free(report_text);
  report_text = NULL;
  funlockfile(stderr);
}

static void print_line(const char *indent, const char *format, va_list arguments) {
  FILE *to = report != NULL ? report : stderr;
  fprintf(to, "========= %s", indent);
  vfprintf(to, format, arguments);
  fputc('\n', to);
}

void fault_report_title(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("", format, arguments);
  va_end(arguments);
}

void fault_report_line(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("    ", format, arguments);
  va_end(arguments);
}

void fault_report_source(const char *file, int line) {
  FILE *source = fopen(file, "r");
  if (source == NULL) return;
  char *text = NULL;
  size_t bytes = 0;
  bool found = line > 0;
  for (int i = 0; i < line && found; i++) found = getline(&text, &bytes, source) > 0;
  if (found) {
    text[strcspn(text, "\n")] = '\0';
    fault_report_line("    %s", text + strspn(text, " \t"));
  }
  free(text);
  fclose(source);
}

const char *fault_sanitize_command(const worker *worker, char command[64]) {
  code_line line;
  code_line_find((const void *)worker->launch->request->kernel, &line);
  const char *name = strrchr(line.file, '/');
  while (name != NULL && name > line.file && name[-1] != '/')
    name--; // the folder that the file is in
  int number = 0, length = 0;
  if (name != NULL && sscanf(name, "%2d%n", &number, &length) == 1 && length == 2 &&
      name[2] == '_') {
    snprintf(command, 64, "make step%02d sanitize", number);
  } else {
    snprintf(command, 64, "make sanitize");
  }
  return command;
}

void fault_written_behind(worker *worker) {
  const uint3 block = worker->block.block_index;
  if (fault_report_begin(worker, cudaErrorIllegalAddress)) {
    const bool alone = worker->cluster->size == 1;
    fault_report_title("Invalid __shared__ write: %s (%u,%u,%u) has written behind the end of %s"
                       "dynamic shared memory",
                       alone ? "block" : "a block of the cluster of block", block.x, block.y,
                       block.z, alone ? "" : "the latter's ");
    fault_report_line(
        "address 0x%zx of dynamic shared memory, of which the launch asked for %zu byte%s",
        shared_memory_written_behind(worker), worker->launch->request->dynamic_shared_bytes,
        plural(worker->launch->request->dynamic_shared_bytes));
    char command[64];
    fault_report_line("hint: %s says which line has done it",
                      fault_sanitize_command(worker, command));
    fault_report_end(worker, cudaErrorIllegalAddress);
  }
  fault_leave(worker);
}

void fault_stack_spilled(worker *worker) {
  const uint3 block = worker->block.block_index;
  if (fault_report_begin(worker, cudaErrorIllegalAddress)) {
    fault_report_title("Stack overflow: a thread has %d KiB of stack", FIBER_STACK_BYTES / 1024);
    fault_report_line("in block (%u,%u,%u), and what it has overwritten since is not known",
                      block.x, block.y, block.z);
    fault_report_line(
        "hint: a launch of fewer threads, or one that is not cooperative, says where");
    fault_report_end(worker, cudaErrorIllegalAddress);
  }
  fault_leave(worker);
}

void fault_report_instruction(const worker *worker, uintptr_t instruction) {
  const void *code = (const void *)instruction;
  code_line line;
  code_line_find(code, &line);
  Dl_info module;
  if (line.line > 0) {
    const char *function = line.function[0] != '\0' ? line.function : worker->launch->request->name;
    fault_report_line("at %s in %s:%d", function, line.file, line.line);
    fault_report_source(line.file, line.line);
    if (line.caller[0] != '\0') fault_report_line("    %s", line.caller);
    if (line.origin[0] != '\0') fault_report_line("    %s", line.origin);
  } else if (instruction != 0 && dladdr(code, &module) != 0) {
    fault_report_line("at an instruction of %s whose line is not known", module.dli_fname);
  }
}

void fault_report_thread(const worker *worker) {
  const uint3 thread = worker->running->seen.thread_index;
  const uint3 block = worker->block.block_index;
  fault_report_line("by thread (%u,%u,%u) in block (%u,%u,%u)", thread.x, thread.y, thread.z,
                    block.x, block.y, block.z);
}

void fault_report_end(const worker *worker, cudaError_t error) {
  fault_report_line("in kernel %s", worker->launch->request->name);
  fault_report_line("the launch is abandoned: %s until cudaDeviceReset", cudaGetErrorName(error));
  write_report();
}

void emulator_fault(cudaError_t error, const char *format, ...) {
  worker *worker = current_worker;
  va_list arguments;
  va_start(arguments, format);
  if (worker == NULL) { // a device function called by the host
    print_line("", format, arguments);
    abort();
  }
  if (fault_report_begin(worker, error)) {
    print_line("", format, arguments);
    fault_report_thread(worker);
    fault_report_end(worker, error);
  }
  va_end(arguments);
  fault_leave(worker);
}

void emulator_assert_fail(const char *expression, const char *file, unsigned int line,
                          const char *function) {
  worker *worker = current_worker;
  if (worker == NULL) {
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    abort();
  }
  if (fault_report_begin(worker, cudaErrorAssert)) {
    const uint3 thread = worker->running->seen.thread_index;
    const uint3 block = worker->block.block_index;
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            file, line, function, block.x, block.y, block.z, thread.x, thread.y, thread.z,
            expression);
    write_report();
  }
  fault_leave(worker);
}
