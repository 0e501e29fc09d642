// Tells in which of CUDA's address spaces an address lies.
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

// Whether the bytes lie in shared memory that the launch asked for, or in that of the kernel's module.
bool address_in_shared(const worker *worker, const void *address, size_t bytes);

// Where `bytes` from an address of shared memory lie; the address is as a GPU
// numbers it (emulator_shared_address). NULL when the block has no such memory.
void *address_from_shared(const worker *worker, size_t address, size_t bytes);

// Describes the address in words: "address 0x82 of dynamic shared
// memory", "byte 130 of an allocation of 4096 bytes", and so on.
typedef struct {
  char text[160];
} address_text;
address_text address_describe(const worker *worker, const void *address);

#endif
