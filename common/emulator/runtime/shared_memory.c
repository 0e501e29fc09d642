#define _GNU_SOURCE
#include "shared_memory.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DYNAMIC_ALIGNMENT = 128, GUARD_BYTES = 64 * 1024 };

bool shared_memory_create(worker *worker) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t most = (size_t)gpu_selected()->shared_per_block_opt_in;
  const size_t usable = (most + page - 1) / page * page;
  char *low = mmap(NULL, usable + GUARD_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED || mprotect(low, usable, PROT_READ | PROT_WRITE) != 0) return false;
  worker->dynamic_shared_end = low + usable;
  return true;
}

// Stops at the module one of whose segments holds the kernel.
static int look_at_module(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  launch *launch = argument;
  const uintptr_t kernel = (uintptr_t)launch->request->kernel;
  bool found = false;
  size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD) {
      found |= kernel - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
    }
    if (segment->p_type == PT_TLS) bytes = segment->p_memsz;
  }
  if (!found) return 0;
  launch->static_shared_module = info->dlpi_tls_modid;
  launch->static_shared_bytes = bytes;
  return 1;
}

void shared_memory_find_module(launch *launch) {
  launch->static_shared_module = 0;
  launch->static_shared_bytes = 0;
  dl_iterate_phdr(look_at_module, launch);
}

// The calling thread's copy of a module's thread-local variables (Drepper, "ELF Handling For
// Thread-Local Storage", section 3.4.1).
typedef struct {
  unsigned long module;
  unsigned long offset;
} tls_index;
extern void *__tls_get_addr(tls_index *index);

void shared_memory_prepare(worker *worker) {
  const size_t asked = worker->launch->request->dynamic_shared_bytes;
  const size_t rounded = (asked + DYNAMIC_ALIGNMENT - 1) / DYNAMIC_ALIGNMENT * DYNAMIC_ALIGNMENT;
  worker->block.dynamic_shared = worker->dynamic_shared_end - rounded;
  worker->static_shared = NULL;
  if (worker->launch->static_shared_bytes > 0) {
    tls_index index = {.module = worker->launch->static_shared_module, .offset = 0};
    worker->static_shared = __tls_get_addr(&index);
  }
}

void shared_memory_poison(worker *worker) {
  char *dynamic = worker->block.dynamic_shared;
  memset(dynamic, 0xFF, (size_t)(worker->dynamic_shared_end - dynamic));
  if (worker->static_shared != NULL) {
    memset(worker->static_shared, 0xFF, worker->launch->static_shared_bytes);
  }
}

bool shared_memory_overrun(const worker *worker, uintptr_t address) {
  return address - (uintptr_t)worker->dynamic_shared_end < GUARD_BYTES;
}
