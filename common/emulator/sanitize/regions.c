#define _GNU_SOURCE
#include "regions.h"

#include "host.h"
#include "shared_memory.h"
#include "symbols.h"

#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sorted by address. A table is never changed but replaced by a new one,
// since a kernel may be running; old tables are freed when no kernel runs.
typedef struct region_table {
  struct region_table *older;
  size_t count;
  shadow_region *items[];
} region_table;

static region_table *_Atomic table;

static region_table *table_of(size_t count) {
  region_table *made = malloc(sizeof *made + count * sizeof made->items[0]);
  if (made == NULL) {
    fprintf(stderr, "error: no memory for a table of %zu allocations\n", count);
    exit(2);
  }
  made->older = atomic_load(&table);
  made->count = count;
  return made;
}

static size_t table_count(void) {
  const region_table *current = atomic_load(&table);
  return current != NULL ? current->count : 0;
}

static void add(shadow_region wanted, bool all_written) {
  shadow_region *region = malloc(sizeof *region);
  if (region == NULL) abort();
  *region = wanted;
  if (region->kind != SHADOW_CONSTANT) shadow_create(region, all_written);
  const size_t count = table_count();
  region_table *larger = table_of(count + 1);
  size_t at = 0;
  while (at < count && larger->older->items[at]->start < region->start) {
    larger->items[at] = larger->older->items[at];
    at++;
  }
  larger->items[at] = region;
  for (size_t i = at; i < count; i++) larger->items[i + 1] = larger->older->items[i];
  atomic_store(&table, larger);
}

static void forget(uintptr_t start) {
  const size_t count = table_count();
  if (count == 0) return;
  region_table *smaller = table_of(count);
  smaller->count = 0;
  shadow_region *gone = NULL;
  for (size_t i = 0; i < count; i++) {
    shadow_region *item = smaller->older->items[i];
    if (item->start == start) {
      gone = item;
    } else {
      smaller->items[smaller->count++] = item;
    }
  }
  atomic_store(&table, smaller);
  if (gone == NULL) return;
  shadow_destroy(gone);
  free(gone);
}

static void free_old_tables(void) {
  region_table *current = atomic_load(&table);
  if (current == NULL) return;
  while (current->older != NULL) {
    region_table *older = current->older;
    current->older = older->older;
    free(older);
  }
}

shadow_region *regions_find(uintptr_t address) {
  const region_table *current = atomic_load_explicit(&table, memory_order_acquire);
  if (current == NULL) return NULL;
  size_t low = 0, high = current->count; // items before low start at or below the address
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (current->items[middle]->start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return NULL;
  shadow_region *found = current->items[low - 1];
  return address - found->start < found->bytes ? found : NULL;
}

// ---- Memory of the device -----------------------------------------------------------------------

// The host may write to pinned and managed memory at any time. Only what managed memory begins with tells whether it has,
// and zeros do not. Variables are found through their module.
void observer_memory_allocated(const memory_allocation *entry) {
  if (entry->kind == MEMORY_SYMBOL) return;
  host_memory_allocated();
  const bool managed = entry->kind == MEMORY_MANAGED && !memory_begins_at_zero();
  add((shadow_region){.start = entry->start,
                      .bytes = entry->bytes,
                      .kind = SHADOW_DEVICE,
                      .host_writes = managed},
      entry->kind != MEMORY_DEVICE && !managed);
}

void observer_memory_freed(const memory_allocation *entry) {
  if (entry->kind != MEMORY_SYMBOL) forget(entry->start);
}

void observer_memory_written(const void *address, size_t bytes, const void *from) {
  order_launches_apart();
  const shadow_region *to = regions_find((uintptr_t)address);
  if (to == NULL || to->written == NULL) return;
  uint8_t *written = to->written + ((uintptr_t)address - to->start);
  const shadow_region *source = from != NULL ? regions_find((uintptr_t)from) : NULL;
  if (source != NULL && source->written != NULL && !source->host_writes) {
    memmove(written, source->written + ((uintptr_t)from - source->start), bytes);
  } else {
    memset(written, 1, bytes);
  }
}

// ---- The kernel's module ------------------------------------------------------------------------

// Adds the segments of the module that holds the kernel, unless they are there.
static int look_at_module(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  const uintptr_t kernel = (uintptr_t)argument;
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    found |= segment->p_type == PT_LOAD &&
             kernel - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
  }
  for (int i = 0; found && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    const bool writable = (segment->p_flags & PF_W) != 0;
    add((shadow_region){.start = info->dlpi_addr + segment->p_vaddr,
                        .bytes = segment->p_memsz,
                        .kind = writable ? SHADOW_SYMBOL : SHADOW_CONSTANT},
        true);
  }
  return found;
}

// ---- Shared memory ------------------------------------------------------------------------------

// Of each block of the running cluster. The running block has its static memory at the address that its region says,
// another one has it parked elsewhere.
static shadow_region dynamic_regions[CLUSTER_BLOCKS_MAX], static_regions[CLUSTER_BLOCKS_MAX];
static uint8_t
    *in_variable; // for each byte of static shared memory: 0, or a number of its variable
static size_t variable_bytes;
static const void *module_of; // the kernel for which it was made

shadow_region *regions_dynamic_shared(void) { return &dynamic_regions[order_rank()]; }

shadow_region *regions_static_shared(void) { return &static_regions[order_rank()]; }

shadow_region regions_dynamic_shared_of(const worker *block) {
  return dynamic_regions[block->block.cluster_rank];
}

shadow_region regions_static_shared_of(const worker *block) {
  shadow_region region = static_regions[block->block.cluster_rank];
  region.start = (uintptr_t)block->parked.start;
  return region;
}

bool regions_in_shared_variable(size_t offset, size_t bytes) {
  const uint8_t number = in_variable[offset];
  return number != 0 && offset + bytes <= variable_bytes &&
         in_variable[offset + bytes - 1] == number;
}

// Whether the variable is declared inside another kernel than the one that runs: its block has no such memory, but the
// worker has it for launches of the other one.
static bool is_of_other_kernel(const symbol_table *symbols, const char *variable,
                               const void *kernel) {
  const ElfW(Sym) *running = symbols_function(symbols, kernel);
  if (running == NULL || symbols_is_local_to(variable, symbols_name(symbols, running)))
    return false;
  for (size_t i = 0; i < symbols->count; i++) {
    const char *name = symbols_name(symbols, &symbols->symbols[i]);
    if (symbols_is_kernel(&symbols->symbols[i], name) && symbols_is_local_to(variable, name))
      return true;
  }
  return false;
}

// Variables are numbered from 1 to 255 and again from 1 on: neighbours have different numbers.
static void mark_variables(const void *kernel, size_t bytes) {
  if (kernel == module_of && bytes == variable_bytes) return;
  module_of = kernel;
  variable_bytes = bytes;
  free(in_variable);
  in_variable = calloc(variable_bytes, 1);
  symbol_table symbols;
  if (in_variable == NULL) abort();
  if (!symbols_open(&symbols, kernel)) {
    memset(in_variable, 1, variable_bytes); // stripped: the variables are not known
    return;
  }
  unsigned number = 0;
  for (size_t i = 0; i < symbols.count; i++) {
    const ElfW(Sym) *symbol = &symbols.symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_value + symbol->st_size > variable_bytes ||
        is_of_other_kernel(&symbols, symbols_name(&symbols, symbol), kernel)) {
      continue;
    }
    memset(in_variable + symbol->st_value, (int)(number++ % 255 + 1), symbol->st_size);
  }
  symbols_close(&symbols);
}

void regions_launch_begin(const launch *launch) {
  free_old_tables();
  if (order_exhausted()) {
    const region_table *current = atomic_load(&table);
    for (size_t i = 0; current != NULL && i < current->count; i++) {
      shadow_forget_accesses(current->items[i]);
    }
    for (unsigned rank = 0; rank < CLUSTER_BLOCKS_MAX; rank++) {
      shadow_forget_accesses(&dynamic_regions[rank]);
      shadow_forget_accesses(&static_regions[rank]);
    }
    order_restart();
  }
  const void *kernel = launch->request->kernel;
  if (regions_find((uintptr_t)kernel) == NULL) {
    dl_iterate_phdr(look_at_module, (void *)(uintptr_t)kernel);
  }
}

static void prepare(shadow_region *region, uintptr_t start, size_t bytes, shadow_kind kind) {
  if (start != region->start || bytes != region->bytes) {
    shadow_destroy(region);
    *region = (shadow_region){.start = start, .bytes = bytes, .kind = kind};
    if (bytes > 0) shadow_create(region, false);
  }
  if (region->written != NULL) memset(region->written, 0, bytes);
}

void regions_block_begin(worker *worker) {
  const uintptr_t fixed = (uintptr_t)worker->static_shared;
  const size_t fixed_bytes = fixed != 0 ? worker->launch->static_shared_bytes : 0;
  if (fixed_bytes > 0) mark_variables(worker->launch->request->kernel, fixed_bytes);
  prepare(regions_static_shared(), fixed, fixed_bytes, SHADOW_STATIC_SHARED);
  prepare(regions_dynamic_shared(), (uintptr_t)worker->block.dynamic_shared,
          worker->launch->request->dynamic_shared_bytes, SHADOW_DYNAMIC_SHARED);
}
