#include "links.h"

#include "devices.h"
#include "emulator.h"
#include "memory.h"

#include <stdatomic.h>

static _Atomic uint64_t links[DEVICES_MAX][DEVICES_MAX];

void links_count(int from, int to, size_t bytes) {
  if (from != to) atomic_fetch_add(&links[from][to], bytes);
}

void links_access(int device, uintptr_t address, size_t bytes, bool writes) {
  memory_allocation entry;
  if (!memory_find((const void *)address, &entry) || entry.kind != MEMORY_DEVICE) return;
  links_count(writes ? device : entry.device, writes ? entry.device : device, bytes);
}

void links_reset(void) {
  for (int from = 0; from < DEVICES_MAX; from++) {
    for (int to = 0; to < DEVICES_MAX; to++) links[from][to] = 0;
  }
}

uint64_t emulator_link_bytes(int from, int to) {
  const bool known = from >= 0 && from < DEVICES_MAX && to >= 0 && to < DEVICES_MAX;
  return known ? links[from][to] : 0;
}
