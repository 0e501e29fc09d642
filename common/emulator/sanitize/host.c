#define _GNU_SOURCE
#include "host.h"

#include "caller.h"
#include "fault.h"
#include "findings.h"
#include "report.h"
#include "runtime/plural.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// ---- Once for each line -------------------------------------------------------------------------

// Held while a fault is looked up and reported.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The first line of the program that the calls, the innermost first, have come from.
static void find_line(const caller_chain *calls, code_line *line) {
  code_line lines[CALLER_CALLS];
  code_lines_find(calls->code, calls->count, lines);
  for (size_t i = 0; i < calls->count; i++) {
    *line = lines[i];
    if (line->line > 0 && code_line_of_program(line)) return;
  }
  code_line_find(calls->count > 0 ? calls->code[0] : NULL, line);
}

// Whether no fault of the kind has been found in the line yet, which it gives. The caller must hold the mutex.
static bool is_new(const caller_chain *calls, int kind, code_line *line) {
  enum { KNOWN_MAX = 256 };
  static struct {
    uintptr_t calls; // a sum of them, because it takes long to find a line
    int kind, line;
    char file[sizeof line->file];
  } known[KNOWN_MAX];
  static size_t count;
  uintptr_t sum = 0;
  for (size_t i = 0; i < calls->count; i++) sum = 31 * sum + (uintptr_t)calls->code[i];
  for (size_t i = 0; i < count; i++)
    if (known[i].calls == sum && known[i].kind == kind) return false;
  if (count == KNOWN_MAX) return false;
  find_line(calls, line);
  bool seen = false;
  for (size_t i = 0; i < count && line->line > 0; i++)
    seen |= known[i].kind == kind && known[i].line == line->line &&
            strcmp(known[i].file, line->file) == 0;
  known[count].calls = sum;
  known[count].kind = kind;
  known[count].line = line->line;
  memcpy(known[count++].file, line->file, sizeof line->file);
  return !seen;
}

// ---- Accesses -----------------------------------------------------------------------------------

static _Atomic uint64_t allocations; // how many there have been

void host_memory_allocated(void) { allocations++; }

// Loops of the host access few pages, and most of these hold no memory of the device. So each thread remembers such pages,
// for as long as nothing is allocated. An entry is the number of allocations, and below it that of the page.
enum { PAGE_SHIFT = 12, PAGE_BITS = 36, ORDINARY_PAGES = 1024 };
static _Thread_local uint64_t ordinary[ORDINARY_PAGES];

static void report_access(const code_line *line, uintptr_t address, size_t bytes,
                          observed_kind kind) {
  const bool reads = kind == OBSERVED_READ || kind == OBSERVED_STRUCT_READ;
  char place[112];
  memory_describe(address, place, sizeof place);
  flockfile(stderr);
  fault_report_title("Invalid %s of %zu byte%s of device memory by host code",
                     reads ? "read" : "write", bytes, plural(bytes));
  report_place("host code", "", line);
  fault_report_line("address 0x%zx, %s", address, place);
  fault_report_line("hint: host code cannot %s device memory, and with a GPU the program would end "
                    "here: copy %s with cudaMemcpy, or allocate it with cudaMallocManaged",
                    reads ? "read" : "write", reads ? "it" : "to it");
  funlockfile(stderr);
}

void host_access(uintptr_t address, size_t bytes, observed_kind kind, const void *pc) {
  const uint64_t number = allocations;
  const uintptr_t page = address >> PAGE_SHIFT;
  const uint64_t entry = number << PAGE_BITS | page;
  uint64_t *known = &ordinary[page % ORDINARY_PAGES];
  if (number == 0 || *known == entry) return;
  memory_allocation found;
  if (!memory_find_near((const void *)address, &found) || found.kind != MEMORY_DEVICE) {
    *known = entry;
    return;
  }
  const caller_chain calls = {.code = {(const char *)pc - 1}, .count = 1};
  code_line line;
  pthread_mutex_lock(&mutex);
  if (is_new(&calls, (int)kind, &line)) {
    findings_count();
    report_access(&line, address, bytes, kind);
  }
  pthread_mutex_unlock(&mutex);
}

// ---- Calls that fail ----------------------------------------------------------------------------

// Gives the program's calls that have led here, and the name of the emulator's function that the last of them has called.
static const char *take_calls(caller_chain *calls) {
  static const char in_emulator = 0;
  caller_chain all;
  Dl_info emulator, info;
  const char *name = NULL;
  size_t first = 0;
  caller_take(&all);
  if (dladdr(&in_emulator, &emulator) == 0) first = all.count;
  for (; first < all.count; first++) {
    if (dladdr(all.code[first], &info) == 0 || info.dli_fbase != emulator.dli_fbase) break;
    name = info.dli_sname;
  }
  calls->count = all.count - first;
  memcpy(calls->code, all.code + first, calls->count * sizeof *calls->code);
  return name;
}

static void report_failure(const code_line *line, const char *function, cudaError_t error,
                           const char *why) {
  const bool is_named = function != NULL && strncmp(function, "emulator_", 9) != 0;
  const bool is_launch = function != NULL && strncmp(function, "emulator_launch", 15) == 0;
  flockfile(stderr);
  fault_report_title("%s has failed: %s (%s)",
                     is_named    ? function
                     : is_launch ? "Launch of a kernel"
                                 : "Call of CUDA",
                     cudaGetErrorString(error), cudaGetErrorName(error));
  report_place("host code", "", line);
  if (why != NULL) fault_report_line("%s", why);
  funlockfile(stderr);
}

void observer_call_failed(cudaError_t error, const char *why) {
  enum { KIND_FIRST = 256 }; // behind those of accesses
  caller_chain calls;
  code_line line;
  const char *function = take_calls(&calls);
  pthread_mutex_lock(&mutex);
  if (is_new(&calls, KIND_FIRST + (int)error, &line)) {
    findings_count();
    report_failure(&line, function, error, why);
  }
  pthread_mutex_unlock(&mutex);
}
