// Where a tensor map may lie: in a parameter of the kernel, in constant memory or in global memory (PTX ISA 9.0,
// 9.7.9.27.1.2, "cp.async.bulk.tensor"). A parameter without __grid_constant__ whose address is taken is none of these,
// because the compiler then makes a copy of it for each thread, in the thread's own local memory.
//
// In the emulator all parameters are on the stacks of the threads. The rewriter marks those with __grid_constant__, and
// what else is on a stack stands for local memory.
#ifndef MAP_PLACE_H
#define MAP_PLACE_H

#include "block.h"

// A block begins, and the thread has not told its parameters.
void map_places_begin(thread *thread);

// Reports a fault on behalf of `site` when the copy engine could not read a map at this address.
void map_place_check(worker *worker, const void *map, const emulator_site *site);

#endif
