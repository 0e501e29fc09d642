#define _GNU_SOURCE // mkdtemp, mkfifo
#include "npy/npy.h"
#include "tests/npy/files.h"

#include <stdint.h>
#include <sys/stat.h>

TestSuite(npy_read, .init = make_folder, .fini = remove_folder);

// Writes magic, version, the header's length and the header, filled with blanks to a multiple of 64
// bytes, then the data. Returns the length of the file.
static size_t build(int version, const char *dictionary, const void *data, size_t data_bytes,
                    char *out) {
  size_t prefix = version == 1 ? 10 : 12;
  size_t length = strlen(dictionary);
  size_t total = (prefix + length + 1 + 63) / 64 * 64;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version;
  out[7] = 0;
  for (size_t i = 8; i < prefix; i++) out[i] = (char)((total - prefix) >> 8 * (i - 8));
  memset(out + prefix, ' ', total - prefix);
  memcpy(out + prefix, dictionary, length);
  out[total - 1] = '\n';
  if (data_bytes > 0) memcpy(out + total, data, data_bytes);
  return total + data_bytes;
}

// NumPy accepts these headers as well; they describe four uint16 elements.
static const char *const tolerated[] = {
    "{'descr':'<u2','fortran_order':False,'shape':(4,)}",
    "{ 'shape' : ( 4 , ) , 'fortran_order' : False , 'descr' : '<u2' , }",
    "{\"descr\": \"<u2\", \"fortran_order\": False, \"shape\": (4,), }",
    "{'descr': '<u2', \"fortran_order\": False, 'shape': (4L,), }", // by Python 2
    "{'descr': '<u2', 'fortran_order': False, 'shape': (2L, 2L), }",
    "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2,), }",
    "  {'descr': '<u2', 'fortran_order': False,\n 'shape': (1, 1, 1, 1, 1, 1, 2, 2)}\t  \n",
};

Test(npy_read, spellings_of_the_header) {
  for (int version = 1; version <= 3; version++) {
    for (size_t i = 0; i < sizeof tolerated / sizeof *tolerated; i++) {
      char file[512];
      const uint16_t data[4] = {1, 2, 3, 0xFFFF};
      size_t length = build(version, tolerated[i], data, sizeof data, file);
      put(in_folder("a.npy"), file, length);
      npy_array array;
      error_text error = {""};
      cr_assert(npy_read(in_folder("a.npy"), &array, &error), "%s: %s", tolerated[i], error.text);
      cr_expect_eq(array.dtype, NPY_UINT16);
      cr_expect_eq(array.count, 4, "%s", tolerated[i]);
      cr_expect_arr_eq(array.data, data, sizeof data, "%s", tolerated[i]);
      npy_free(&array);
    }
  }
}

Test(npy_read, a_version_2_header_longer_than_version_1_allows) {
  enum { HEADER = 70000 };
  char *file = calloc(1, HEADER + 256);
  char *dictionary = malloc(HEADER + 1);
  memset(dictionary, ' ', HEADER);
  strcpy(dictionary + HEADER - 60, "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }");
  put(in_folder("a.npy"), file, build(2, dictionary, "\x07\x00", 2, file));
  npy_array array;
  error_text error = {""};
  cr_assert(npy_read(in_folder("a.npy"), &array, &error), "%s", error.text);
  cr_expect_eq(*(uint16_t *)array.data, 7);
  npy_free(&array);
  free(file);
  free(dictionary);
}

typedef struct {
  const char *dictionary;
  const char *message; // part of the error
} refusal;

#define DTYPE(name)  "{'descr': '" name "', 'fortran_order': False, 'shape': (4,), }"
#define SHAPE(shape) "{'descr': '<u2', 'fortran_order': False, 'shape': " shape ", }"

static const refusal refusals[] = {
    {"{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }",
     "is in Fortran order (column-major): save numpy.ascontiguousarray(x) instead"},
    {DTYPE("=f2"), "has element type '=f2'"}, // it is none of NumPy's files, and of neither order
    {DTYPE(">f2"), "is big-endian ('>f2'): save x.astype('<f2') instead"},
    {DTYPE(">f4"), "is big-endian ('>f4'): save x.astype('<f4') instead"},
    {DTYPE(">u2"), "is big-endian ('>u2'): save x.astype('<u2') instead"},
    {DTYPE("<f8"), "has element type '<f8'; accepted are '<f2' (float16), '<f4' (float32) and "
                   "'<u2' (the bits of bfloat16)"},
    {DTYPE("<i2"), "has element type '<i2'; accepted are"},
    {DTYPE("|O"), "has element type '|O'; accepted are"},
    {DTYPE(""), "has element type ''; accepted are"},
    {DTYPE("<V2"), "x.view(numpy.uint16)"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", "structured array"},
    {SHAPE("(1, 1, 1, 1, 1, 1, 1, 1, 4)"), "has more than 8 dimensions"},
    {SHAPE("(-4,)"), "has a negative dimension"},
    {SHAPE("(2, -2)"), "has a negative dimension"},
    {SHAPE("(18446744073709551616,)"), "has a dimension that does not fit 64 bits"},
    {SHAPE("(99999999999999999999999999,)"), "has a dimension that does not fit 64 bits"},
    {SHAPE("(18446744073709551615,)"), "more elements than memory can hold"},
    {SHAPE("(4294967296, 4294967296)"), "more elements than memory can hold"},
    {SHAPE("(4611686018427387904,)"), "more elements than memory can hold"}, // 2^62 of 2 bytes
    {SHAPE("(2, 4611686018427387904, 8)"), "more elements than memory can hold"},
    {SHAPE("(4611686018427387903,)"), "the data should be 9223372036854775806 bytes long"},
    {SHAPE("(4)"), "expected a comma behind the only dimension"},
    {SHAPE("4"), "expected the shape in parentheses"},
    {SHAPE("[4]"), "expected the shape in parentheses"},
    {SHAPE("(4 4)"), "expected a comma or a closing parenthesis"},
    {SHAPE("(,)"), "expected a dimension"},
    {SHAPE("(4,,)"), "expected a dimension"},
    {SHAPE("(4.0,)"), "expected a comma or a closing parenthesis"},
    {SHAPE("(0x4,)"), "expected a comma or a closing parenthesis"},
    {SHAPE("(four,)"), "expected a dimension"},
    {"{'fortran_order': False, 'shape': (4,), }", "key 'descr' is missing"},
    {"{'descr': '<u2', 'shape': (4,), }", "key 'fortran_order' is missing"},
    {"{'descr': '<u2', 'fortran_order': False, }", "key 'shape' is missing"},
    {"{}", "key 'descr' is missing"},
    {"{'descr': '<u2', 'fortran_order': False, 'shape': (4,), 'more': 1}", "key 'more' is unknown"},
    {"{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (4,)}",
     "key 'descr' appears twice"},
    {"{'descr': '<u2', 'fortran_order': 0, 'shape': (4,), }", "expected True or False"},
    {"{'descr': 2, 'fortran_order': False, 'shape': (4,), }", "expected the element type"},
    {"{'descr': '<u2\", 'fortran_order': False, 'shape': (4,), }", "has element type '<u2\", '"},
    {"{'descr': '\\x3cu2', 'fortran_order': False, 'shape': (4,), }", "expected the element type"},
    {"{'descr' '<u2', 'fortran_order': False, 'shape': (4,), }", "expected a colon"},
    {"{'descr': '<u2' 'fortran_order': False, 'shape': (4,), }", "expected a comma or }"},
    {"{descr: '<u2', 'fortran_order': False, 'shape': (4,), }", "expected a key in quotes"},
    {"{'descr': '<u2', 'fortran_order': False, 'shape': (4,), } 1", "expected nothing but blanks"},
    {"{'descr': '<u2', 'fortran_order': False, 'shape': (4,), ", "expected a key in quotes"},
    {"{'descr': '<u2', 'fortran_order': False, 'shape': (4", "expected a comma or a closing"},
    {"'descr': '<u2'", "expected {"},
    {"", "expected {"},
};

static void expect_refusal(const void *file, size_t length, const char *message, const char *what) {
  npy_array array = {.rank = 99, .data = &array};
  error_text error = {""};
  put(in_folder("a.npy"), file, length);
  bool done = npy_read(in_folder("a.npy"), &array, &error);
  cr_expect(!done && strstr(error.text, message) != NULL && strstr(error.text, folder) != NULL,
            "%s\nerror:    %s\nexpected: %s", what, error.text, message);
  cr_expect(array.data == NULL && array.rank == 0, "%s: the array is not zeroed", what);
}

Test(npy_read, refused_headers) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    char file[512];
    const uint16_t data[4] = {1, 2, 3, 4};
    size_t length = build(1, refusals[i].dictionary, data, sizeof data, file);
    expect_refusal(file, length, refusals[i].message, refusals[i].dictionary);
  }
}

Test(npy_read, a_malformed_header_is_shown_with_the_place) {
  char file[512];
  size_t length = build(1, SHAPE("(4\x01 4)"), NULL, 0, file);
  expect_refusal(file, length,
                 "malformed .npy header: expected a comma or a closing parenthesis at character 53 "
                 "of `{'descr': '<u2', 'fortran_order': False, 'shape': (4. 4), }`",
                 "place");
}

Test(npy_read, a_shape_with_a_zero_may_have_any_other_dimension) {
  char file[512];
  size_t length = build(1, SHAPE("(18446744073709551615, 0, 4)"), NULL, 0, file);
  put(in_folder("a.npy"), file, length);
  npy_array array;
  error_text error = {""};
  cr_assert(npy_read(in_folder("a.npy"), &array, &error), "%s", error.text);
  cr_expect_eq(array.count, 0);
  cr_expect_eq(array.shape[0], SIZE_MAX);
}

Test(npy_read, every_truncation_and_trailing_byte) {
  for (int version = 1; version <= 3; version++) {
    char file[512];
    const uint16_t data[4] = {1, 2, 3, 4};
    size_t length = build(version, SHAPE("(4,)"), data, sizeof data, file);
    size_t header = length - sizeof data;
    for (size_t kept = 0; kept < length; kept++) {
      char what[96];
      snprintf(what, sizeof what, "version %d, %zu of %zu bytes", version, kept, length);
      const char *message = kept < 6                          ? "is no .npy file"
                            : kept < (version == 1 ? 10 : 12) ? "ends in the middle of its header"
                            : kept < header                   ? "the header should be "
                                            : "was cut short; save or copy it again";
      expect_refusal(file, kept, message, what);
    }
    file[length] = 0;
    expect_refusal(file, length + 1, "has something behind the array", "trailing byte");
  }
}

Test(npy_read, damaged_beginnings) {
  char file[512];
  const uint16_t data[4] = {1, 2, 3, 4};
  size_t length = build(1, SHAPE("(4,)"), data, sizeof data, file);
  const struct {
    int position;
    char byte;
    const char *message;
  } damages[] = {
      {0, 'N', "is no .npy file: it does not begin with \\x93NUMPY"},
      {5, 'y', "is no .npy file"},
      {6, 0, "has .npy format version 0.0; known are 1.0, 2.0 and 3.0"},
      {6, 4, "has .npy format version 4.0"},
      {7, 1, "has .npy format version 1.1"},
      {6, (char)255, "has .npy format version 255.0"},
      {8, 0, "expected {"}, // no header at all
      {8, 20, "expected "}, // a header that ends within the dictionary
      {8, (char)(length - 10 - 8 + 2), "expected nothing but blanks"}, // one that takes data in
      {8, (char)255, "the header should be 255 bytes long, but only 126 follow"},
      {9, (char)255, "the header should be 65398 bytes long, but only 126 follow"},
  };
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    char damaged[512];
    memcpy(damaged, file, length);
    damaged[damages[i].position] = damages[i].byte;
    char what[32];
    snprintf(what, sizeof what, "damage %zu", i);
    expect_refusal(damaged, length, damages[i].message, what);
  }
  expect_refusal("PK\x03\x04 and so on", 13, "looks like a .npz archive", "npz");
  // The reader must not allocate four gigabytes for a header that the file does not have, either.
  expect_refusal("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13,
                 "the header should be 4294967295 bytes long, but only 1 follow", "4 GiB header");
}

Test(npy_read, things_that_are_no_files) {
  npy_array array;
  error_text error;
  cr_expect_not(npy_read(in_folder("missing.npy"), &array, &error));
  cr_expect(strstr(error.text, "cannot open ") != NULL, "%s", error.text);
  cr_expect(strstr(error.text, "missing.npy: No such file or directory") != NULL, "%s", error.text);
  cr_expect_not(npy_read(folder, &array, &error));
  cr_expect(strstr(error.text, "is a folder") != NULL, "%s", error.text);
  cr_assert_eq(mkfifo(in_folder("pipe"), 0600), 0);
  cr_expect_not(npy_read(in_folder("pipe"), &array, &error)); // and does not wait for a writer
  cr_expect(strstr(error.text, "is a pipe or a device") != NULL, "%s", error.text);
}
