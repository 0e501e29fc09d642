#include "group/processes.h"

#ifdef LAB_MPI

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

bool processes_begin(process_place *place, error_text *error) {
  int support = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &support) != MPI_SUCCESS)
    return fail(error, "MPI cannot begin: start the program with mpirun, as in mpirun -np 2");
  MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place->ranks);
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &place->local);
  MPI_Comm_free(&machine);
  return true;
}

void processes_end(void) { MPI_Finalize(); }

void processes_abort(int status) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && !ended) MPI_Abort(MPI_COMM_WORLD, status);
}

bool processes_agree(const void *bytes, size_t count, const char *what, error_text *error) {
  int same = 1;
  void *first = malloc(count);
  if (first) {
    memcpy(first, bytes, count);
    MPI_Bcast(first, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
    same = memcmp(first, bytes, count) == 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  free(first);
  return same ||
         fail(error, "%s differs between the ranks: give all of them the same options", what);
}

void processes_share(void *bytes, size_t count) {
  MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void processes_merge(void *bytes, size_t count) {
  char *next = bytes;
  while (count > 0) { // MPI counts in an int
    const int some = count < INT_MAX ? (int)count : INT_MAX;
    MPI_Allreduce(MPI_IN_PLACE, next, some, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
    next += some;
    count -= (size_t)some;
  }
}

bool processes_all_good(bool good, error_text *error) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int first = good ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == ranks) return true;
  MPI_Bcast(error, (int)sizeof *error, MPI_BYTE, first, MPI_COMM_WORLD);
  return false;
}

double processes_largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

#else

bool processes_begin(process_place *place, error_text *error) {
  (void)place;
  return fail(error,
              "--mpi needs MPI, which was not found when this program was built: install it, "
              "as openmpi-bin and libopenmpi-dev on Debian, and build again");
}

void processes_end(void) {}

void processes_abort(int status) { (void)status; }

bool processes_agree(const void *bytes, size_t count, const char *what, error_text *error) {
  (void)bytes, (void)count, (void)what, (void)error;
  return true;
}

void processes_share(void *bytes, size_t count) { (void)bytes, (void)count; }

void processes_merge(void *bytes, size_t count) { (void)bytes, (void)count; }

bool processes_all_good(bool good, error_text *error) {
  (void)error;
  return good;
}

double processes_largest(double value) { return value; }

#endif
