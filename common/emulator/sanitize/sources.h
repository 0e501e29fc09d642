// What asynchronous copies and box copies read while they are under way: their sources, in global memory.
#ifndef SANITIZE_SOURCES_H
#define SANITIZE_SOURCES_H

#include "observer.h"

// The stamp of the last write to memory that is not shared. Most copies have no such write since their start, and need
// no look at what they have read.
extern uint32_t sources_last_write __attribute__((visibility("hidden")));

// What to do about a write to the source of a copy.
extern const char sources_hint[] __attribute__((visibility("hidden")));

// The running thread has waited for its copy, or ends without.
void sources_async_done(worker *worker, const async_copy *copy);

#endif
