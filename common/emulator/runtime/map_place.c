#define _GNU_SOURCE
#include "map_place.h"

#include "address_space.h"
#include "fault.h"
#include "observer.h"

#include <cuda.h>

void map_places_begin(thread *thread) { thread->grid_constants = thread->grid_constants_end = 0; }

// One range suffices for several parameters: what lies between them are parameters, too.
void emulator_grid_constant(const void *parameter, size_t bytes) {
  thread *self = current_worker->running;
  const uintptr_t start = (uintptr_t)parameter, end = start + bytes;
  if (self->grid_constants == 0 || start < self->grid_constants) self->grid_constants = start;
  if (end > self->grid_constants_end) self->grid_constants_end = end;
}

static bool is_grid_constant(const thread *thread, uintptr_t address) {
  return address >= thread->grid_constants && address < thread->grid_constants_end;
}

void map_place_check(worker *worker, const void *map, const emulator_site *site) {
  if (is_grid_constant(worker->running, (uintptr_t)map)) return;
  const address_space space = address_space_of(worker, map);
  if (space != ADDRESS_GLOBAL) {
    emulator_fault(
        cudaErrorIllegalAddress,
        "%s in %s:%d: the tensor map is %s, where the copy engine cannot read it. A map is a "
        "parameter of the kernel that has the words `const __grid_constant__`, or it is in "
        "constant "
        "or global memory; and functions are given its address, because a copy of it is in local "
        "memory",
        site->operation, site->file, site->line,
        space == ADDRESS_LOCAL ? "in a thread's own local memory" : "in shared memory");
  }
  observer_library_access(worker, worker->running, map, sizeof(CUtensorMap), OBSERVED_READ, site);
}
