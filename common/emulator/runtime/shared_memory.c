#define _GNU_SOURCE
#include "shared_memory.h"

#include "numeric/poison.h"
#include "random.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  PROMISED_ALIGNMENT = 16, // of dynamic shared memory: CUDA C++ Programming Guide, "__shared__"
  PLACES_BYTES = 1024,     // over which its beginning moves from launch to launch
  GAP_BYTES = PLACES_BYTES + 2 * EMULATOR_SHARED_ALIGNMENT_MAX, // at most, behind its end
  GUARD_BYTES = 64 * 1024
};

static size_t usable_bytes(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t most = (size_t)gpu_selected()->shared_per_block_opt_in;
  return (most + GAP_BYTES + page - 1) / page * page;
}

bool shared_memory_create(worker *worker) {
  const size_t usable = usable_bytes();
  char *low = mmap(NULL, usable + GUARD_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED || mprotect(low, usable, PROT_READ | PROT_WRITE) != 0) return false;
  worker->dynamic_shared_end = low + usable;
  return true;
}

// Stops at the module that has a segment with the kernel.
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

// ---- Where dynamic shared memory begins ---------------------------------------------------------

// The modules' declarations, which are entered while the modules are loaded, one after the other.
enum { DECLARED_MAX = 64 };
static struct {
  const void *module; // its load address
  size_t alignment;
} declared[DECLARED_MAX];
static size_t declared_count;

static const void *module_at(const void *address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

bool emulator_align_dynamic_shared(const void *in_module, size_t alignment) {
  const void *module = module_at(in_module);
  size_t i = 0;
  while (i < declared_count && declared[i].module != module) i++;
  if (i == DECLARED_MAX) i--; // modules without a place of their own share the last one
  if (i == declared_count) declared[declared_count++].module = module;
  if (alignment > declared[i].alignment) declared[i].alignment = alignment;
  return true;
}

static size_t alignment_for(const void *kernel) {
  const void *module = module_at(kernel);
  size_t alignment = PROMISED_ALIGNMENT;
  for (size_t i = 0; i < declared_count; i++) {
    const bool asks = declared[i].module == module || i == DECLARED_MAX - 1;
    if (asks && declared[i].alignment > alignment) alignment = declared[i].alignment;
  }
  return alignment;
}

static size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

void shared_memory_choose_place(launch *launch) {
  const size_t alignment = alignment_for(launch->request->kernel),
               asked = launch->request->dynamic_shared_bytes;
  launch->dynamic_shared_alignment = alignment;
#ifdef EMULATOR_LOCKSTEP // the counter numbers banks from the beginning on
  launch->dynamic_shared_gap = round_up(asked, 128) - asked;
#else
  // The guard lies at a multiple of 4096 bytes. Below it, find an odd multiple of the alignment.
  uint64_t random = random_start(launch->seed, launch->number, UINT64_MAX);
  const size_t steps = random_below(&random, PLACES_BYTES / (2 * alignment) + 1);
  size_t below = round_up(asked, alignment);
  if (below / alignment % 2 == 0) below += alignment;
  launch->dynamic_shared_gap = below + 2 * alignment * steps - asked;
#endif
}

// The calling thread's copy of a module's thread-local variables (Drepper, "ELF Handling For
// Thread-Local Storage", section 3.4.1).
typedef struct {
  unsigned long module;
  unsigned long offset;
} tls_index;
extern void *__tls_get_addr(tls_index *index);

void shared_memory_prepare(worker *worker) {
  const launch *launch = worker->launch;
  worker->block.dynamic_shared = worker->dynamic_shared_end -
                                 launch->request->dynamic_shared_bytes - launch->dynamic_shared_gap;
  worker->static_shared = NULL;
  if (worker->launch->static_shared_bytes > 0) {
    tls_index index = {.module = worker->launch->static_shared_module, .offset = 0};
    worker->static_shared = __tls_get_addr(&index);
  }
}

void shared_memory_poison(worker *worker) {
  char *dynamic = worker->block.dynamic_shared;
  char *gap = worker->dynamic_shared_end - worker->launch->dynamic_shared_gap;
  poison_fill(dynamic, (size_t)(gap - dynamic), POISON_SHARED);
  memset(gap, 0xFF, worker->launch->dynamic_shared_gap);
  if (worker->static_shared != NULL) {
    poison_fill(worker->static_shared, worker->launch->static_shared_bytes, POISON_SHARED);
  }
}

size_t shared_memory_written_behind(const worker *worker) {
  const size_t bytes = worker->launch->dynamic_shared_gap;
  const char *gap = worker->dynamic_shared_end - bytes;
  if (bytes == 0 || (*gap == (char)0xFF && memcmp(gap, gap + 1, bytes - 1) == 0)) return 0;
  for (const char *at = gap; at < worker->dynamic_shared_end; at++)
    if (*at != (char)0xFF) return (size_t)(at - (char *)worker->block.dynamic_shared);
  return 0;
}

bool shared_memory_holds(const worker *worker, uintptr_t address) {
  const uintptr_t start = (uintptr_t)worker->block.dynamic_shared;
  return address - start < (uintptr_t)worker->dynamic_shared_end + GUARD_BYTES - start;
}

void shared_memory_protect(const worker *worker, int protection) {
  const size_t usable = usable_bytes();
  mprotect(worker->dynamic_shared_end - usable, usable, protection);
}

bool shared_memory_overrun(const worker *worker, uintptr_t address) {
  return address - (uintptr_t)worker->dynamic_shared_end < GUARD_BYTES;
}
