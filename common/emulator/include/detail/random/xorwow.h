// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with cuRAND's beginnings: a sequence of 2^192 - 2^32 numbers,
// of which each subsequence takes 2^67. The numbers are those of NVIDIA's.
#ifndef EMULATOR_DETAIL_RANDOM_XORWOW_H
#define EMULATOR_DETAIL_RANDOM_XORWOW_H

#include <array>
#include <vector>

namespace emulator {

struct xorwow {
  // 160 bits to which a step does nothing but shifts and exclusive ors, so that a step is a matrix of bits.
  using bits = std::array<unsigned, 5>;
  static constexpr unsigned BITS = 160, WEYL = 362437, LOG_SUBSEQUENCE = 67;
  static constexpr bool DOUBLE_OF_ONE_NUMBER = false;

  unsigned d;
  bits v;

  static bits step(const bits &v) {
    const unsigned t = v[0] ^ v[0] >> 2;
    return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
  }
  unsigned next() {
    v = step(v);
    return v[4] + (d += WEYL);
  }

  // What becomes of each bit alone after a number of steps.
  using matrix = std::vector<bits>;
  static bits product(const matrix &steps, const bits &from) {
    bits to = {};
    for (unsigned bit = 0; bit < BITS; bit++)
      if (from[bit / 32] >> bit % 32 & 1)
        for (unsigned word = 0; word < to.size(); word++) to[word] ^= steps[bit][word];
    return to;
  }
  // The matrices of 1, 2, 4, ... steps. They are computed once; sums of exponents beyond 2^192 change nothing.
  static const std::vector<matrix> &powers() {
    static const std::vector<matrix> all = [] {
      std::vector<matrix> made(LOG_SUBSEQUENCE + 64, matrix(BITS));
      for (unsigned bit = 0; bit < BITS; bit++) {
        bits one = {};
        one[bit / 32] = 1u << bit % 32;
        made[0][bit] = step(one);
      }
      for (size_t i = 1; i < made.size(); i++)
        for (unsigned bit = 0; bit < BITS; bit++)
          made[i][bit] = product(made[i - 1], made[i - 1][bit]);
      return made;
    }();
    return all;
  }
  // Goes count * 2^log_unit numbers ahead.
  void skip(unsigned long long count, unsigned log_unit) {
    if (log_unit < 32) d += WEYL * static_cast<unsigned>(count << log_unit);
    for (unsigned i = 0; count >> i != 0 && i < 64; i++)
      if (count >> i & 1) v = product(powers()[i + log_unit], v);
  }

  void init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
    const unsigned t0 = 1099087573u * (static_cast<unsigned>(seed) ^ 0xAAD26B49u);
    const unsigned t1 = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xF7DCEFDDu);
    d = 6615241u + t1 + t0;
    v = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0};
    skip(subsequence, LOG_SUBSEQUENCE);
    skip(offset, 0);
  }
};

} // namespace emulator

#endif
