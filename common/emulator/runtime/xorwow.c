// How XORWOW goes ahead by many numbers at once (Marsaglia, "Xorshift RNGs", 2003). A step of its 160 bits does nothing but
// shifts and exclusive ors, so it is a matrix of bits, and 2^k steps are this matrix squared k times.
#include "emulator.h"

#include <pthread.h>
#include <string.h>

enum { WORDS = 5, BITS = 32 * WORDS, POWERS = EMULATOR_XORWOW_LOG_SUBSEQUENCE + 64 };

typedef struct {
  uint32_t word[WORDS];
} bits;

// powers[k][i]: what becomes of bit i alone in 2^k steps.
static bits powers[POWERS][BITS];

static bits step(bits v) {
  const uint32_t t = v.word[0] ^ v.word[0] >> 2, last = v.word[4];
  return (bits){{v.word[1], v.word[2], v.word[3], last, last ^ last << 4 ^ t ^ t << 1}};
}

static bits product(const bits *steps, bits from) {
  bits to = {{0}};
  for (unsigned bit = 0; bit < BITS; bit++)
    if (from.word[bit / 32] >> bit % 32 & 1)
      for (unsigned i = 0; i < WORDS; i++) to.word[i] ^= steps[bit].word[i];
  return to;
}

static void make_powers(void) {
  for (unsigned bit = 0; bit < BITS; bit++) {
    bits one = {{0}};
    one.word[bit / 32] = UINT32_C(1) << bit % 32;
    powers[0][bit] = step(one);
  }
  for (unsigned k = 1; k < POWERS; k++)
    for (unsigned bit = 0; bit < BITS; bit++)
      powers[k][bit] = product(powers[k - 1], powers[k - 1][bit]);
}

void emulator_xorwow_skip(uint32_t v[5], uint64_t count, unsigned log_unit) {
  static pthread_once_t made = PTHREAD_ONCE_INIT;
  pthread_once(&made, make_powers);
  bits now;
  memcpy(&now, v, sizeof now);
  for (unsigned i = 0; i < 64; i++)
    if (count >> i & 1) now = product(powers[i + log_unit], now);
  memcpy(v, &now, sizeof now);
}
