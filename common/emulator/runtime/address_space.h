// Where an address is, as CUDA sees it.
#ifndef ADDRESS_SPACE_H
#define ADDRESS_SPACE_H

#include "block.h"

typedef enum {
  ADDRESS_DYNAMIC_SHARED, // or in the guard behind it
  ADDRESS_STATIC_SHARED,
  ADDRESS_LOCAL, // of a thread of this block
  ADDRESS_GLOBAL // anything else
} address_space;

address_space address_space_of(const worker *worker, const void *address);

// "__shared__", "__local__" or "__global__"
const char *address_space_name(address_space space);

// Says what the address is: "address 0x82 of dynamic shared memory", "byte 130 of an allocation of
// 4096 bytes", and so on.
typedef struct {
  char text[160];
} address_text;
address_text address_describe(const worker *worker, const void *address);

#endif
