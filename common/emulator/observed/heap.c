// Memory that kernels have from malloc and new (include/detail/heap_functions.h). No part of it is given out twice, so the
// accesses of two threads that have it one after the other are never taken for a race.
#define _GNU_SOURCE
#include "devices.h"
#include "memory.h"

#include <pthread.h>

enum { ALIGNMENT = 16, CHUNK_BYTES = 8 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *chunk; // where the next memory comes from
static size_t chunk_used, chunk_bytes;

static bool in_device_memory(const void *memory) {
  memory_allocation found;
  return memory_find(memory, &found) && found.kind != MEMORY_HOST;
}

// Behind each part are bytes that nothing writes, so a read past its end is one of memory that was never written.
static void *take(size_t bytes) {
  const size_t used = (bytes / ALIGNMENT + 2) * ALIGNMENT;
  if (chunk == NULL || used > chunk_bytes - chunk_used || !in_device_memory(chunk)) {
    chunk_bytes = used > CHUNK_BYTES ? used : CHUNK_BYTES;
    chunk_used = 0;
    void *made = NULL; // each device may use it
    memory_allocate(&made, chunk_bytes, devices_several() ? MEMORY_MANAGED : MEMORY_DEVICE);
    chunk = made;
  }
  if (chunk == NULL) return NULL;
  char *const part = chunk + chunk_used;
  chunk_used += used;
  return part;
}

EMULATOR_API void *emulator_heap_take(size_t bytes) {
  pthread_mutex_lock(&mutex);
  void *const memory = take(bytes);
  pthread_mutex_unlock(&mutex);
  return memory;
}

EMULATOR_API bool emulator_heap_give(void *memory) { return in_device_memory(memory); }
