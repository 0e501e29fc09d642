// Device memory: each allocation is a mapping of its own between two guards, placed so that its end
// touches the upper one. An access past the end, by 255 bytes at most, faults at the instruction.
#define _GNU_SOURCE
#include "memory.h"

#include "devices.h"
#include "environment.h"
#include "errors.h"
#include "gpu.h"
#include "graph.h"
#include "numeric/poison.h"
#include "observer.h"
#include "plural.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, GUARD_BYTES = 64 * 1024, FREED_KEPT = 64 };

static const size_t DESCRIBE_WITHIN = (size_t)16 << 20; // bytes; farther is not called "near"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static memory_allocation *table;
static size_t table_count, table_room;
static size_t device_bytes[DEVICES_MAX];    // allocated and not yet freed
static memory_allocation freed[FREED_KEPT]; // the last ones, for reports
static size_t freed_count;

static size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The size of the GPU's memory, or 80 % of this machine's if that is less, which several devices share.
static size_t device_memory_bytes(void) {
  const size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  const size_t usable = host / 5 * 4 / (size_t)devices_count();
  return usable < gpu_selected()->memory_bytes ? usable : gpu_selected()->memory_bytes;
}

static bool uses_device_memory(memory_kind kind) {
  return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED;
}

// Returns NULL when no allocation holds the address. The caller must hold the mutex.
static memory_allocation *holder(uintptr_t address) {
  for (size_t i = 0; i < table_count; i++) {
    if (address - table[i].start < table[i].bytes) return &table[i];
  }
  return NULL;
}

static bool table_add(memory_allocation entry) {
  if (table_count == table_room) {
    const size_t room = table_room > 0 ? 2 * table_room : 64;
    memory_allocation *larger = realloc(table, room * sizeof *table);
    if (larger == NULL) return false;
    table = larger;
    table_room = room;
  }
  table[table_count++] = entry;
  return true;
}

bool memory_begins_at_zero(void) { return environment_number("EMU_ZERO_MEMORY", 0, 0, 1) == 1; }

static bool map(memory_allocation *entry) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t guard = round_up(GUARD_BYTES, page);
  const size_t used = round_up(entry->bytes, ALIGNMENT);
  const size_t usable = round_up(used, page);
  entry->mapping_bytes = guard + usable + guard;
  char *mapping = mmap(NULL, entry->mapping_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  char *low = mapping + guard;
  if (mprotect(low, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, entry->mapping_bytes);
    return false;
  }
  if (!memory_begins_at_zero())
    poison_fill(low, usable, POISON_DEVICE); // a read before any write shows
  entry->mapping = (uintptr_t)mapping;
  entry->start = (uintptr_t)low + usable - used;
  return true;
}

cudaError_t memory_allocate(void **pointer, size_t bytes, memory_kind kind) {
  devices_use_runtime();
  RETURN_IF_STICKY();
  if (pointer == NULL) return errors_record(cudaErrorInvalidValue);
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  const size_t limit = device_memory_bytes();
  const int device = devices_current();
  memory_allocation entry = {.bytes = bytes, .kind = kind, .device = device};
  pthread_mutex_lock(&mutex);
  bool done = bytes <= limit &&
              (!uses_device_memory(kind) || bytes <= limit - device_bytes[device]) && map(&entry);
  if (done && !table_add(entry)) {
    munmap((void *)entry.mapping, entry.mapping_bytes);
    done = false;
  }
  if (done && uses_device_memory(kind)) device_bytes[device] += bytes;
  if (done) observer_memory_allocated(&entry);
  pthread_mutex_unlock(&mutex);
  if (!done) return errors_record(cudaErrorMemoryAllocation);
  *pointer = (void *)entry.start;
  return cudaSuccess;
}

// The caller must hold the mutex.
static void release(size_t index) {
  const memory_allocation entry = table[index];
  table[index] = table[--table_count];
  observer_memory_freed(&entry);
  if (entry.mapping != 0) munmap((void *)entry.mapping, entry.mapping_bytes);
  if (uses_device_memory(entry.kind)) device_bytes[entry.device] -= entry.bytes;
  freed[freed_count++ % FREED_KEPT] = entry;
}

cudaError_t memory_deallocate(void *pointer, bool host) {
  devices_use_runtime();
  RETURN_IF_STICKY();
  if (pointer == NULL || (!host && graph_memory_free(pointer))) return cudaSuccess;
  bool found = false;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < table_count && !found; i++) {
    const bool right_kind = host ? table[i].kind == MEMORY_HOST : uses_device_memory(table[i].kind);
    if (right_kind && table[i].start == (uintptr_t)pointer) {
      release(i);
      found = true;
    }
  }
  pthread_mutex_unlock(&mutex);
  return found ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}

bool memory_find(const void *address, memory_allocation *found) {
  pthread_mutex_lock(&mutex);
  const memory_allocation *entry = holder((uintptr_t)address);
  if (entry != NULL) *found = *entry;
  pthread_mutex_unlock(&mutex);
  return entry != NULL;
}

bool memory_find_near(const void *address, memory_allocation *found) {
  bool is_near = false;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < table_count && !is_near; i++) {
    is_near = (uintptr_t)address - table[i].mapping < table[i].mapping_bytes;
    if (is_near) *found = table[i];
  }
  pthread_mutex_unlock(&mutex);
  return is_near;
}

bool memory_on_device(const void *address, size_t bytes) {
  memory_allocation entry;
  return memory_find(address, &entry) && entry.kind != MEMORY_HOST &&
         bytes <= entry.bytes - ((uintptr_t)address - entry.start);
}

static bool add_once(const void *address, size_t bytes, memory_kind kind) {
  pthread_mutex_lock(&mutex);
  bool known = holder((uintptr_t)address) != NULL;
  if (!known) {
    const memory_allocation entry = {.start = (uintptr_t)address, .bytes = bytes, .kind = kind};
    known = table_add(entry);
    if (known) observer_memory_allocated(&entry);
  }
  pthread_mutex_unlock(&mutex);
  return known;
}

bool memory_add_symbol(const void *address, size_t bytes) {
  return add_once(address, bytes, MEMORY_SYMBOL);
}

bool memory_add_mapped(const void *address, size_t bytes) {
  return add_once(address, bytes, MEMORY_MAPPED);
}

bool memory_register_host(void *address, size_t bytes) {
  const memory_allocation entry = {
      .start = (uintptr_t)address, .bytes = bytes, .kind = MEMORY_HOST};
  pthread_mutex_lock(&mutex);
  const bool done = table_add(entry);
  if (done) observer_memory_allocated(&entry);
  pthread_mutex_unlock(&mutex);
  if (done) observer_memory_written(address, bytes, NULL); // the host has written it
  return done;
}

static bool forget(const void *address, memory_kind kind) {
  bool found = false;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < table_count && !found; i++) {
    found = table[i].start == (uintptr_t)address && table[i].kind == kind && table[i].mapping == 0;
    if (found) release(i);
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

bool memory_unregister_host(const void *address) { return forget(address, MEMORY_HOST); }

bool memory_remove_mapped(const void *address) { return forget(address, MEMORY_MAPPED); }

void memory_reset(int device) {
  pthread_mutex_lock(&mutex);
  for (size_t i = table_count; i > 0; i--) {
    if (table[i - 1].device == device) release(i - 1);
  }
  pthread_mutex_unlock(&mutex);
}

// Changes the protection of the memory of devices that `device` cannot reach; -1: of all devices.
static void protect(int device, int protection) {
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < table_count; i++) {
    const memory_allocation *entry = &table[i];
    if (entry->kind != MEMORY_DEVICE || (device >= 0 && devices_reach(device, entry->device))) {
      continue;
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), guard = round_up(GUARD_BYTES, page);
    mprotect((char *)entry->mapping + guard, entry->mapping_bytes - 2 * guard, protection);
  }
  pthread_mutex_unlock(&mutex);
}

void memory_close_to(int device) { protect(device, PROT_NONE); }

void memory_open(void) { protect(-1, PROT_READ | PROT_WRITE); }

// How far the address is outside the entry, 0 if it is inside.
static size_t distance(const memory_allocation *entry, uintptr_t address) {
  if (address < entry->start) return entry->start - address;
  if (address >= entry->start + entry->bytes) return address - (entry->start + entry->bytes) + 1;
  return 0;
}

void memory_describe(uintptr_t address, char *text, size_t text_bytes) {
  pthread_mutex_lock(&mutex);
  const memory_allocation *nearest = NULL;
  for (size_t i = 0; i < table_count; i++) {
    if (nearest == NULL || distance(&table[i], address) < distance(nearest, address)) {
      nearest = &table[i];
    }
  }
  const memory_allocation *gone = NULL;
  for (size_t i = 0; i < FREED_KEPT && i < freed_count; i++) {
    if (distance(&freed[i], address) == 0) gone = &freed[i];
  }
  if (nearest != NULL && distance(nearest, address) == 0) {
    const int length = snprintf(text, text_bytes, "inside an allocation of %zu byte%s",
                                nearest->bytes, plural(nearest->bytes));
    if (devices_several()) {
      snprintf(text + length, text_bytes - (size_t)length, " of device %d", nearest->device);
    }
  } else if (gone != NULL) {
    snprintf(text, text_bytes, "inside an allocation of %zu byte%s that has been freed",
             gone->bytes, plural(gone->bytes));
  } else if (nearest == NULL || distance(nearest, address) > DESCRIBE_WITHIN) {
    snprintf(text, text_bytes, "near no allocation");
  } else {
    const bool before = address < nearest->start;
    const size_t away =
        before ? nearest->start - address : address - (nearest->start + nearest->bytes);
    snprintf(text, text_bytes, "%zu byte%s %s of an allocation of %zu byte%s", away, plural(away),
             before ? "before the start" : "past the end", nearest->bytes, plural(nearest->bytes));
  }
  pthread_mutex_unlock(&mutex);
}

void memory_count(size_t *free_bytes, size_t *total_bytes) {
  pthread_mutex_lock(&mutex);
  *total_bytes = device_memory_bytes();
  *free_bytes = *total_bytes - device_bytes[devices_current()];
  pthread_mutex_unlock(&mutex);
}
