// No file, however damaged, crashes the reader or makes it take more memory than the file is long.
#define _GNU_SOURCE // mkdtemp
#include "npy/header.h"
#include "npy/npy.h"
#include "numeric/random.h"
#include "tests/npy/files.h"

#include <stdint.h>

TestSuite(npy_fuzz, .init = make_folder, .fini = remove_folder);

static uint64_t state;

static uint32_t next_random(void) { return (uint32_t)random_next(&state); }

// Changes, removes, doubles or inserts a few bytes of the text; returns its new length.
static size_t mutate(char *text, size_t length, size_t capacity) {
  static const char likely[] = "{}()[],:'\"<>LTF-0123456789 \n\\\0\x93\xff";
  for (uint32_t count = 1 + next_random() % 4; count > 0; count--) {
    size_t position = next_random() % (length + 1);
    char byte =
        next_random() % 4 == 0 ? (char)next_random() : likely[next_random() % sizeof likely];
    switch (next_random() % 4) {
    case 0: // change
      if (position < length) text[position] = byte;
      break;
    case 1: // remove the byte or all that follows
      if (position == length) break;
      if (next_random() % 8 == 0)
        length = position;
      else
        memmove(text + position, text + position + 1, --length - position);
      break;
    default: // insert
      if (length == capacity) break;
      memmove(text + position + 1, text + position, length++ - position);
      text[position] = byte;
    }
  }
  return length;
}

Test(npy_fuzz, mutated_headers) {
  static const char good[] = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 1, 8, 4), }\n";
  state = 0x2545F491;
  int accepted = 0;
  for (int round = 0; round < 200000; round++) {
    char text[128];
    memcpy(text, good, sizeof good - 1);
    size_t length = mutate(text, sizeof good - 1, sizeof text);
    char *exact = malloc(length + 1); // of the text's size, for AddressSanitizer to see an overrun
    memcpy(exact, text, length);
    char *end = realloc(exact, length > 0 ? length : 1);
    npy_array array = {0};
    error_text error = {""};
    bool done = npy_header_parse("a.npy", end, length, &array, &error);
    accepted += done;
    if (done)
      cr_assert(array.rank >= 0 && array.rank <= NPY_MAX_RANK &&
                    array.count <= PTRDIFF_MAX / npy_element_bytes(array.dtype),
                "%.*s", (int)length, text);
    else
      cr_assert(strncmp(error.text, "a.npy", 5) == 0, "%.*s: %s", (int)length, text, error.text);
    free(end);
  }
  cr_expect(accepted > 2000 && accepted < 198000, "%d of 200000 accepted", accepted);
}

Test(npy_fuzz, mutated_files) {
  char good[NPY_HEADER_CAPACITY + 64];
  size_t header = npy_header_format(NPY_FLOAT32, 3, (size_t[]){2, 2, 4}, good);
  memset(good + header, 1, 64);
  state = 0x9E3779B9;
  int accepted = 0;
  for (int round = 0; round < 5000; round++) {
    char file[sizeof good];
    memcpy(file, good, header + 64);
    size_t length = mutate(file, header + 64, sizeof file);
    put(in_folder("a.npy"), file, length);
    npy_array array;
    error_text error = {""};
    bool done = npy_read(in_folder("a.npy"), &array, &error);
    accepted += done;
    if (done) cr_assert(array.count * npy_element_bytes(array.dtype) <= length);
    cr_assert(done || strstr(error.text, folder) != NULL, "%s", error.text);
    npy_free(&array);
  }
  cr_expect(accepted > 50 && accepted < 4950, "%d of 5000 accepted", accepted);
}
