// Reads files that NumPy wrote, and writes them again.
#define _GNU_SOURCE // mkdtemp
#include "npy/npy.h"
#include "tests/npy/files.h"

TestSuite(npy_numpy, .init = make_folder, .fini = remove_folder);

typedef struct {
  const char *bytes;
  size_t length;
  npy_dtype dtype;
  int rank;
  size_t shape[NPY_MAX_RANK];
} recorded;

#define BLANKS_10   "          "
#define BYTES(text) text, sizeof(text) - 1

// NumPy 2.4.6 wrote these bytes with numpy.lib.format.write_array(file, array, version).
static const recorded from_numpy[] = {
    // numpy.arange(6, dtype='<f4').reshape(2, 3)
    {BYTES("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
           "}" BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "        \n"
           "\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@"),
     NPY_FLOAT32,
     2,
     {2, 3}},
    // numpy.arange(6, dtype='<f2').reshape(1, 2, 1, 3)
    {BYTES("\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 1, 3), "
           "}" BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "  \n"
           "\x00\x00\x00<\x00@\x00"
           "B\x00"
           "D\x00"
           "E"),
     NPY_FLOAT16,
     4,
     {1, 2, 1, 3}},
    // numpy.arange(3, dtype='<u2'), versions 1.0, 2.0 and 3.0
    {BYTES(
         "\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }" BLANKS_10
             BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "\n"
         "\x00\x00\x01\x00\x02\x00"),
     NPY_UINT16,
     1,
     {3}},
    {BYTES("\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<u2', 'fortran_order': False, 'shape': (3,), "
           "}" BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "        \n"
           "\x00\x00\x01\x00\x02\x00"),
     NPY_UINT16,
     1,
     {3}},
    {BYTES("\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<u2', 'fortran_order': False, 'shape': (3,), "
           "}" BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "        \n"
           "\x00\x00\x01\x00\x02\x00"),
     NPY_UINT16,
     1,
     {3}},
    // numpy.array(1.5, dtype='<f4')
    {BYTES("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (), }" BLANKS_10
               BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "  \n"
           "\x00\x00\xc0?"),
     NPY_FLOAT32,
     0,
     {0}},
    // numpy.zeros((2, 0, 3), dtype='<f2')
    {BYTES("\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2, 0, 3), "
           "}" BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "     \n"),
     NPY_FLOAT16,
     3,
     {2, 0, 3}},
    // numpy.zeros((2, 0, 10**17, 10**14), dtype='<f2'), whose padding is what the first dimension
    // may grow by, and one digit more, which adds a line of 64
    {BYTES("\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, "
           "'shape': (2, 0, 100000000000000000, 100000000000000), }" BLANKS_10 BLANKS_10 " \n"),
     NPY_FLOAT16,
     4,
     {2, 0, 100000000000000000, 100000000000000}},
    {BYTES("\x93NUMPY\x01\x00\xb6\x00{'descr': '<f2', 'fortran_order': False, "
           "'shape': (2, 0, 100000000000000000, 1000000000000000), }" BLANKS_10 BLANKS_10 BLANKS_10
               BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 BLANKS_10 "    \n"),
     NPY_FLOAT16,
     4,
     {2, 0, 100000000000000000, 1000000000000000}},
};

Test(npy_numpy, files_of_numpy_and_back_byte_for_byte) {
  for (size_t i = 0; i < sizeof from_numpy / sizeof *from_numpy; i++) {
    const recorded *it = &from_numpy[i];
    npy_array array;
    error_text error = {""};
    put(in_folder("a.npy"), it->bytes, it->length);
    cr_assert(npy_read(in_folder("a.npy"), &array, &error), "case %zu: %s", i, error.text);
    size_t count = 1; // stays 0 behind a 0
    for (int j = 0; j < it->rank; j++) count *= it->shape[j];
    size_t bytes = count * npy_element_bytes(it->dtype);
    cr_expect_eq(array.dtype, it->dtype, "case %zu", i);
    cr_expect_eq(array.rank, it->rank, "case %zu", i);
    cr_expect_eq(array.count, count, "case %zu: count %zu", i, array.count);
    cr_expect_arr_eq(array.shape, it->shape, sizeof it->shape, "case %zu", i);
    cr_expect_eq(array.data == NULL, count == 0, "case %zu", i);
    if (bytes > 0)
      cr_expect_arr_eq(array.data, it->bytes + it->length - bytes, bytes, "case %zu: data", i);

    if (it->bytes[6] == 1) { // the version that npy_write writes
      char written[512];
      cr_assert(
          npy_write(in_folder("b.npy"), array.dtype, array.rank, array.shape, array.data, &error),
          "case %zu: %s", i, error.text);
      size_t length = get(in_folder("b.npy"), written, sizeof written);
      cr_assert_eq(length, it->length, "case %zu: %zu bytes", i, length);
      cr_expect_arr_eq(written, it->bytes, length, "case %zu: not what NumPy writes", i);
    }
    npy_free(&array);
    cr_expect_null(array.data);
  }
}
