// Ranks in processes of their own, one for each GPU, on one machine or several: `mpirun -np 4 build/gpu/step23 --mpi`.
// MPI starts them and carries what the host programs say to each other; K and V go through NCCL.
#ifndef PROCESSES_H
#define PROCESSES_H

#include "error/error.h"
#include <stddef.h>

typedef struct {
  int rank, ranks;
  int local; // the rank's number among those of its machine
} process_place;

// Begins. Returns false with a sentence where the program was built without MPI.
bool processes_begin(process_place *place, error_text *error);
void processes_end(void);

// Ends all processes with the status. It does nothing before processes_begin.
void processes_abort(int status);

// Returns false with a sentence, on all ranks, unless all have given the same bytes. `what` names them.
bool processes_agree(const void *bytes, size_t count, const char *what, error_text *error);

// Gives the bytes of rank 0 to all.
void processes_share(void *bytes, size_t count);

// Brings the rows of all ranks together, on all ranks. Each has its own rows, and bytes of 0xff elsewhere.
void processes_merge(void *bytes, size_t count);

// Tells whether `good` is true on all ranks. Where it is not, `error` becomes, on all ranks, the sentence of the first
// rank that has false.
bool processes_all_good(bool good, error_text *error);

// Returns the largest value of all ranks.
double processes_largest(double value);

#endif
