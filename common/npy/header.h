// The text in front of the data of a .npy file: a Python dictionary literal such as
//   {'descr': '<f2', 'fortran_order': False, 'shape': (1, 8, 128, 64), }
#ifndef NPY_HEADER_H
#define NPY_HEADER_H

#include "npy/npy.h"

// A header with 8 dimensions of 20 digits each fits in this.
enum { NPY_HEADER_CAPACITY = 512 };

#define NPY_MAGIC "\x93NUMPY" // the first 6 bytes of the file
enum { NPY_MAGIC_BYTES = 6 };

// Fills dtype, rank, shape and count of *array from the dictionary, which the caller has read from
// the file at `path`. It accepts the same texts as Python: any order of the keys, either quote, any
// blanks, a trailing comma, the L that Python 2 puts behind its long integers. The array's size in
// bytes fits a ptrdiff_t. Fails with a sentence that begins with the path.
bool npy_header_parse(const char *path, const char *text, size_t length, npy_array *array,
                      error_text *error);

// Writes magic, version 1.0, length and dictionary, byte for byte as NumPy does; returns their
// length, a multiple of 64.
size_t npy_header_format(npy_dtype dtype, int rank, const size_t *shape,
                         char out[NPY_HEADER_CAPACITY]);

// Multiplies the shape's dimensions. Returns false when elements or bytes do not fit a ptrdiff_t.
bool npy_count_elements(npy_dtype dtype, int rank, const size_t *shape, size_t *count);

#endif
