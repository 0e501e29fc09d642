// Bytes that went over the links between devices.
#ifndef LINKS_H
#define LINKS_H

#include <stddef.h>

void links_count(int from, int to, size_t bytes);
void links_reset(void);

#endif
