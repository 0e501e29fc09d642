// The memory requests of wmma's fragments.
#ifndef MATRIX_REQUESTS_H
#define MATRIX_REQUESTS_H

#include "matrix_fault.h"
#include "requests/memory_request.h"

enum { MATRIX_REQUESTS_MAX = 16 };

// Gives the requests that nvcc 13 makes for sm_80 and sm_90a of one load or store of a whole
// fragment. Returns how many there are. `shared` says that the matrix is in shared memory.
//
// This was read from nvcc's machine code (`make step05 sass`). A and B are made of 8x8 matrices,
// with 16 bytes in each of 8 rows. In fp16 and in shared memory, one ldmatrix loads up to four
// of them, and every lane gives the address of a row; otherwise each is a load of 4 bytes a
// lane, transposed in registers if necessary. Accumulators are loaded and stored two elements at
// a time if these are neighbours in memory, otherwise one at a time; duplicates are loaded once.
unsigned matrix_requests(const matrix_memory_call *call, bool shared,
                         memory_request requests[MATRIX_REQUESTS_MAX]);

#endif
