#define _GNU_SOURCE // mkdtemp, seteuid
#include "npy/header.h"
#include "npy/npy.h"
#include "tests/npy/files.h"

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(npy_write, .init = make_folder, .fini = remove_folder);

Test(npy_write, round_trip_of_every_type_and_rank) {
  const size_t shape[NPY_MAX_RANK] = {3, 1, 2, 5, 1, 2, 4, 2};
  unsigned char data[3 * 2 * 5 * 2 * 4 * 2 * 4];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + i / 256);
  for (npy_dtype dtype = NPY_FLOAT16; dtype <= NPY_UINT16; dtype++) {
    for (int rank = 0; rank <= NPY_MAX_RANK; rank++) {
      npy_array array;
      error_text error = {""};
      cr_assert(npy_write(in_folder("a.npy"), dtype, rank, shape, data, &error),
                "type %d, rank %d: %s", dtype, rank, error.text);
      cr_assert(npy_read(in_folder("a.npy"), &array, &error), "type %d, rank %d: %s", dtype, rank,
                error.text);
      size_t count = 1;
      for (int i = 0; i < rank; i++) count *= shape[i];
      cr_expect_eq(array.dtype, dtype);
      cr_expect_eq(array.rank, rank);
      cr_expect_arr_eq(array.shape, shape, (size_t)rank * sizeof *shape, "rank %d", rank);
      cr_expect_eq(array.count, count, "type %d, rank %d", dtype, rank);
      cr_expect_arr_eq(array.data, data, count * npy_element_bytes(dtype), "type %d, rank %d",
                       dtype, rank);
      npy_free(&array);
    }
  }
  cr_expect_eq(files_in_folder(), 1, "a temporary file was left");
}

// The longer the shape, the less padding: the data begins at a multiple of 64 bytes whatever the
// length, behind a line feed. A last dimension of 0 keeps the files small.
Test(npy_write, header_is_aligned_for_every_length_of_shape) {
  size_t shape[NPY_MAX_RANK] = {0};
  for (int i = 0; i < NPY_MAX_RANK - 1; i++) {
    shape[i] = 1;
    for (int digits = 1; digits <= 19; digits++) {
      char file[1024];
      npy_array array;
      error_text error = {""};
      cr_assert(npy_write(in_folder("a.npy"), NPY_FLOAT16, i + 2, shape, NULL, &error), "%s",
                error.text);
      size_t length = get(in_folder("a.npy"), file, sizeof file);
      size_t header = (unsigned char)file[8] | (size_t)(unsigned char)file[9] << 8;
      cr_expect_eq(length, 10 + header, "rank %d, %d digits: %zu bytes", i + 2, digits, length);
      cr_expect_eq(length % 64, 0, "rank %d, %d digits: %zu bytes", i + 2, digits, length);
      cr_expect_eq(file[length - 1], '\n', "rank %d, %d digits", i + 2, digits);
      cr_assert(npy_read(in_folder("a.npy"), &array, &error), "%s", error.text);
      cr_expect_arr_eq(array.shape, shape, sizeof shape, "rank %d, %d digits", i + 2, digits);
      if (digits < 19) shape[i] *= 10;
    }
  }
}

// A shape of more dimensions than an array has is cut, and nothing is written behind the header.
Test(npy_write, header_stays_in_its_room) {
  enum { RANK = 60 };
  size_t shape[RANK];
  char out[4 * NPY_HEADER_CAPACITY];
  for (int i = 0; i < RANK; i++) shape[i] = SIZE_MAX;
  memset(out, '#', sizeof out);
  cr_expect_lt(npy_header_format(NPY_FLOAT16, RANK, shape, out), NPY_HEADER_CAPACITY);
  for (size_t i = NPY_HEADER_CAPACITY; i < sizeof out; i++)
    cr_assert_eq(out[i], '#', "byte %zu was overwritten", i);
}

static void expect_failure(const char *path, const char *message) {
  const uint16_t data[4] = {1, 2, 3, 4};
  error_text error = {""};
  bool done = npy_write(path, NPY_UINT16, 1, (size_t[]){4}, data, &error);
  cr_expect(!done && strstr(error.text, "cannot write ") == error.text &&
                strstr(error.text, path) != NULL && strstr(error.text, message) != NULL,
            "%s\nerror:    %s\nexpected: %s", path, error.text, message);
}

Test(npy_write, places_that_cannot_be_written) {
  put(in_folder("file"), "x", 1);
  expect_failure(in_folder("no/such/a.npy"), "No such file or directory");
  expect_failure(in_folder("file/a.npy"), "Not a directory");
  expect_failure(folder, "is no ordinary file");
  cr_assert_eq(mkfifo(in_folder("pipe"), 0600), 0);
  expect_failure(in_folder("pipe"), "is no ordinary file");
  expect_failure("", "No such file or directory");
  static char long_path[5000];
  snprintf(long_path, sizeof long_path, "%s/", folder);
  memset(long_path + strlen(long_path), 'a', 4900 - strlen(long_path));
  error_text error;
  cr_expect_not(npy_write(long_path, NPY_UINT16, 0, NULL, "\1", &error));
  cr_expect_eq(files_in_folder(), 2);
}

Test(npy_write, a_directory_without_permission) {
  cr_assert_eq(chmod(folder, 0555), 0);
  bool root = geteuid() == 0; // root may write everywhere, so use another user's rights for a while
  if (root) cr_assert_eq(seteuid(65534), 0);
  expect_failure(in_folder("a.npy"), "Permission denied");
  if (root) cr_assert_eq(seteuid(0), 0);
  cr_assert_eq(chmod(folder, 0755), 0);
  cr_expect_eq(files_in_folder(), 0);
}

Test(npy_write, a_write_that_fails_half_way_leaves_the_old_file) {
  enum { BYTES = 1 << 16 };
  char *data = calloc(1, BYTES), old[4] = {0};
  error_text error = {""};
  put(in_folder("a.npy"), "old", 3);
  signal(SIGXFSZ, SIG_IGN); // so that the limit is an error and not the end of the process
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES / 2, BYTES}), 0);
  bool done = npy_write(in_folder("a.npy"), NPY_UINT16, 1, (size_t[]){BYTES / 2}, data, &error);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES, BYTES}), 0);
  cr_expect(!done && strstr(error.text, "a.npy: File too large") != NULL, "%s", error.text);
  cr_expect_eq(get(in_folder("a.npy"), old, sizeof old), 3);
  cr_expect_str_eq(old, "old");
  cr_expect_eq(files_in_folder(), 1, "a temporary file was left");
  free(data);
}

Test(npy_write, replaces_a_file_and_passes_over_a_left_temporary) {
  char name[64];
  npy_array array;
  error_text error = {""};
  put(in_folder("a.npy"), "old", 3);
  snprintf(name, sizeof name, "a.npy.%ld-0.tmp", (long)getpid());
  put(in_folder(name), "of a process that had this number before", 40);
  const float data[2] = {1.5f, -2.0f};
  cr_assert(npy_write(in_folder("a.npy"), NPY_FLOAT32, 2, (size_t[]){1, 2}, data, &error), "%s",
            error.text);
  cr_assert(npy_read(in_folder("a.npy"), &array, &error), "%s", error.text);
  cr_expect_arr_eq(array.data, data, sizeof data);
  npy_free(&array);
  cr_expect_eq(files_in_folder(), 2);
}

Test(npy_write, shapes_that_are_refused) {
  error_text error = {""};
  size_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  cr_expect_not(npy_write(in_folder("a.npy"), NPY_UINT16, 9, shape, "\1", &error));
  cr_expect(strstr(error.text, "9 dimensions") != NULL, "%s", error.text);
  cr_expect_not(npy_write(in_folder("a.npy"), NPY_UINT16, -1, shape, "\1", &error));
  shape[0] = shape[1] = (size_t)1 << 32;
  cr_expect_not(npy_write(in_folder("a.npy"), NPY_UINT16, 2, shape, "\1", &error));
  cr_expect(strstr(error.text, "more elements than memory can hold") != NULL, "%s", error.text);
  cr_expect_eq(files_in_folder(), 0);
}
