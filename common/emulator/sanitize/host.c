#define _GNU_SOURCE
#include "host.h"

#include "fault.h"
#include "findings.h"
#include "report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// ---- Once for each line -------------------------------------------------------------------------

static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; // held while a fault is looked up and reported

// Whether no fault of the kind has been found in the line yet, which it gives. The caller must hold the mutex.
static bool is_new(const void *code, int kind, code_line *line) {
  enum { KNOWN_MAX = 256 };
  static struct {
    const void *code;
    int kind, line;
    char file[sizeof line->file];
  } known[KNOWN_MAX];
  static size_t count;
  for (size_t i = 0; i < count; i++)
    if (known[i].code == code && known[i].kind == kind) return false;
  if (count == KNOWN_MAX) return false;
  code_line_find(code, line);
  bool seen = false;
  for (size_t i = 0; i < count && line->line > 0; i++)
    seen |= known[i].kind == kind && known[i].line == line->line &&
            strcmp(known[i].file, line->file) == 0;
  known[count].code = code;
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
  const bool reads = kind == OBSERVED_READ;
  char place[112];
  memory_describe(address, place, sizeof place);
  flockfile(stderr);
  fault_report_title("Invalid %s of %zu bytes of device memory by host code",
                     reads ? "read" : "write", bytes);
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
  pthread_mutex_lock(&mutex);
  code_line line;
  if (is_new((const char *)pc - 1, (int)kind, &line)) {
    findings_count();
    report_access(&line, address, bytes, kind);
  }
  pthread_mutex_unlock(&mutex);
}
