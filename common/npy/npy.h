// Reads and writes arrays in NumPy's .npy files, as numpy.save and numpy.load do.
// Source of the format: NumPy's documentation of numpy.lib.format, and NEP 1, "A Simple File Format
// for NumPy Arrays" (Robert Kern, 2007).
#ifndef NPY_H
#define NPY_H

#include "error/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { NPY_MAX_RANK = 8 };

// Little-endian element types, by the name the file gives them.
typedef enum {
  NPY_FLOAT16, // '<f2'
  NPY_FLOAT32, // '<f4'
  NPY_UINT16   // '<u2'; the lab keeps the bits of bfloat16 in it, which NumPy does not have
} npy_dtype;

typedef struct {
  npy_dtype dtype;
  int rank;                   // 0 to NPY_MAX_RANK; rank 0 is a single element
  size_t shape[NPY_MAX_RANK]; // the first `rank` are used; the last one varies fastest in memory
  size_t count;               // elements: the product of the shape, 0 when a dimension is 0
  void *data;                 // npy_free releases it; NULL when count is 0
} npy_array;

size_t npy_element_bytes(npy_dtype dtype);

// Reads a file of format version 1.0, 2.0 or 3.0 into *array. Takes C order (row-major) arrays of
// the types above, and refuses a file that is not exactly as long as its header says. On failure
// *array is zeroed, and the error names the file, what it holds and what to do.
bool npy_read(const char *path, npy_array *array, error_text *error);

// Writes a C order array of `rank` dimensions: format version 1.0, whose header holds every shape of
// up to NPY_MAX_RANK dimensions. The file appears whole or not at all; a file of that name is
// replaced. Fails with the path and the system's reason.
bool npy_write(const char *path, npy_dtype dtype, int rank, const size_t *shape, const void *data,
               error_text *error);

// Releases the memory that npy_read allocated and zeroes *array. A zeroed array may be freed too.
void npy_free(npy_array *array);

#endif
