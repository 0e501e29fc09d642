// The hardware's cost of one memory instruction of a warp, computed from the lanes' addresses alone.
#ifndef MEMORY_REQUEST_H
#define MEMORY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum { REQUEST_LANES = 32, SECTOR_BYTES = 32, SHARED_BANKS = 32, SHARED_BANK_BYTES = 4 };

typedef struct {
  uint32_t lanes; // a bit for each lane that takes part
  unsigned bytes; // bytes that each of them moves: 1, 2, 4, 8 or 16
  bool store;
  uintptr_t address[REQUEST_LANES]; // of the lanes that take part
} memory_request;

// How many 32-byte sectors of global memory the lanes touch together: 4 for 32 floats in a row that
// starts at a sector, 32 when each lane is in a sector of its own (CUDA C++ Best Practices Guide,
// "Coalesced Access to Global Memory").
unsigned memory_request_sectors(const memory_request *request);

// How many times shared memory has to be accessed for the request. One access serves each of the 32
// banks, 4 bytes wide, with one word, which any number of lanes may share; the bank with the most
// different words decides how many accesses a request needs (CUDA C++ Programming Guide, "Shared Memory",
// compute capability 5.x and later). 8 bytes a lane are served by half warps, 16 bytes by quarters, in
// turn. NVIDIA does not document how loads of 8 and 16 bytes skip some of these: see the source.
unsigned memory_request_wavefronts(const memory_request *request);

#endif
