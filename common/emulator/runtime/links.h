// Bytes that went over the links between devices.
#ifndef LINKS_H
#define LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void links_count(int from, int to, size_t bytes);

// An access of a kernel of `device`, which goes over a link if the memory is another device's.
void links_access(int device, uintptr_t address, size_t bytes, bool writes);

void links_reset(void);

#endif
