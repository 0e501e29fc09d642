// Boxes of tensors, which the copy engine moves to shared memory (box_copy.c) and back (box_store.c).
#ifndef BOX_H
#define BOX_H

#include "block.h"

// A row of the box, of its contiguous dimension. `place` is where its first element would be in the tensor.
typedef struct {
  unsigned index; // of the row in the box
  uint64_t place;
  bool inside; // the row is in the tensor; its columns may not be
} box_row;

// The row with the next index; the first one, when called with an index of -1. False past the last.
bool box_next_row(const box_copy *copy, box_row *row);

// The columns of a row that the tensor has, as bytes from the row's start: from `first` to before `end`.
typedef struct {
  unsigned first, end;
} column_range;
column_range box_columns_inside(const box_copy *copy);

// A copy that the running thread starts between shared memory and the box whose first element is at the coordinates.
// Reports a fault of the map, of the first column and of the place in shared memory.
box_copy box_begin(void *shared, const CUtensorMap *map, const int *coordinate, unsigned rank,
                   const emulator_site *site);

// The same for bytes in a row, without a map: they are a box of rows of 16.
box_copy box_of_bytes(void *shared, const void *global, size_t bytes, const emulator_site *site);

// Reports a fault if rows that the tensor has are not in device memory.
void box_check_tensor(const box_copy *copy);

#endif
