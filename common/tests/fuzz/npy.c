// For libFuzzer: no bytes, taken as a .npy file, crash the reader,
// and an array that it accepts has all the elements of its shape.
#define _GNU_SOURCE // memfd_create
#include "npy/npy.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const int file = memfd_create("a.npy", 0);
  if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  npy_array array;
  error_text error = {""};
  if (npy_read(path, &array, &error)) {
    if (array.count * npy_element_bytes(array.dtype) > size) abort();
    volatile uint8_t last = 0; // every byte it speaks of is there
    for (size_t i = 0; i < array.count * npy_element_bytes(array.dtype); i++)
      last = ((const uint8_t *)array.data)[i];
    (void)last;
  } else if (array.data || !error.text[0]) {
    abort(); // a failure leaves nothing behind and says why
  }
  npy_free(&array);
  close(file);
  return 0;
}
