// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with cuRAND's beginnings: a sequence of 2^192 - 2^32 numbers,
// of which each subsequence takes 2^67. The numbers are those of NVIDIA's.
#ifndef EMULATOR_DETAIL_RANDOM_XORWOW_H
#define EMULATOR_DETAIL_RANDOM_XORWOW_H

#include "emulator.h"

namespace emulator {

struct xorwow {
  static constexpr unsigned WEYL = 362437, LOG_SUBSEQUENCE = EMULATOR_XORWOW_LOG_SUBSEQUENCE;
  static constexpr bool DOUBLE_OF_ONE_NUMBER = false;

  unsigned d, v[5];

  unsigned next() {
    const unsigned t = v[0] ^ v[0] >> 2, last = v[4];
    for (int i = 0; i < 4; i++) v[i] = v[i + 1];
    v[4] = last ^ last << 4 ^ t ^ t << 1;
    return v[4] + (d += WEYL);
  }

  // Goes count * 2^log_unit numbers ahead. The emulator's table is not device memory, so the state is a copy meanwhile,
  // which only the thread itself reads and writes.
  void skip(unsigned long long count, unsigned log_unit) {
    if (count == 0) return;
    if (log_unit < 32) d += WEYL * static_cast<unsigned>(count << log_unit);
    unsigned words[5];
    for (int i = 0; i < 5; i++) words[i] = v[i];
    emulator_xorwow_skip(words, count, log_unit);
    for (int i = 0; i < 5; i++) v[i] = words[i];
  }

  void init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
    const unsigned t0 = 1099087573u * (static_cast<unsigned>(seed) ^ 0xAAD26B49u);
    const unsigned t1 = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xF7DCEFDDu);
    d = 6615241u + t1 + t0;
    v[0] = 123456789u + t0;
    v[1] = 362436069u ^ t0;
    v[2] = 521288629u + t1;
    v[3] = 88675123u ^ t1;
    v[4] = 5783321u + t0;
    skip(subsequence, LOG_SUBSEQUENCE);
    skip(offset, 0);
  }
};

} // namespace emulator

#endif
