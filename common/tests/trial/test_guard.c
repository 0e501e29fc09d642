// The memory around a buffer and in it: a write is found wherever it lands in the red zones, and what was in the memory
// before is not found again.
#include "device/device.h"
#include "trial/guard.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

enum { BYTES = 1000, ZONE = 4096 };

static void write_at(const guarded_buffer *buffer, long place) {
  cr_assert_eq(cudaMemset((char *)buffer->data + place, 0, 1), cudaSuccess);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
}

static guarded_buffer allocate(void) {
  guarded_buffer buffer;
  error_text error;
  cr_assert(guard_allocate(&buffer, "the buffer", BYTES, false, &error), "%s", error.text);
  cr_assert_eq(buffer.zone_bytes, ZONE);
  return buffer;
}

Test(guard, a_write_is_found_at_either_end_of_a_zone) {
  static const struct {
    long place;
    const char *words; // NULL where it is inside
  } cases[] = {{0, NULL},
               {BYTES - 1, NULL},
               {-1, ": 1 byte before its start"},
               {BYTES, ": 1 byte past its end"},
               {-ZONE, ": 4096 bytes before its start"},
               {BYTES + ZONE - 1, ": 4096 bytes past its end"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    guarded_buffer buffer = allocate();
    error_text error = {""};
    cr_expect(guard_intact(&buffer, &error), "%s", error.text);
    write_at(&buffer, cases[i].place);
    cr_expect_eq(guard_intact(&buffer, &error), !cases[i].words, "case %zu", i);
    if (cases[i].words)
      cr_expect(strstr(error.text, cases[i].words), "case %zu: %s", i, error.text);
    guard_free(&buffer);
  }
}

// Neither what a step has left in memory that it has freed, nor zeros, which look right in a mask or a counter.
Test(guard, fresh_memory_is_filled) {
  for (int round = 0; round < 2; round++) {
    unsigned char bytes[BYTES];
    guarded_buffer buffer = allocate();
    cr_assert_eq(cudaMemcpy(bytes, buffer.data, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < BYTES; i++)
      cr_assert(bytes[i] == bytes[0] && bytes[i] != 0 && bytes[i] != 0x11, "byte %zu is 0x%02x", i,
                bytes[i]);
    cr_assert_eq(cudaMemset(buffer.data, 0x11, BYTES), cudaSuccess);
    guard_free(&buffer);
  }
}
