// The generator Philox 4x32-10 (Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), whose counter is
// cuRAND's: the number of the block of four in the lower 64 bits and the subsequence in the upper ones. The numbers are
// those of NVIDIA's.
#ifndef EMULATOR_DETAIL_RANDOM_PHILOX_H
#define EMULATOR_DETAIL_RANDOM_PHILOX_H

namespace emulator {

struct philox {
  unsigned long long seed, subsequence, offset;
  unsigned block[4];

  void make_block() {
    unsigned c[4] = {static_cast<unsigned>(offset / 4), static_cast<unsigned>(offset / 4 >> 32),
                     static_cast<unsigned>(subsequence), static_cast<unsigned>(subsequence >> 32)};
    unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u) {
      const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
      const unsigned next[4] = {
          static_cast<unsigned>(b >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(b),
          static_cast<unsigned>(a >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(a)};
      for (int i = 0; i < 4; i++) c[i] = next[i];
    }
    for (int i = 0; i < 4; i++) block[i] = c[i];
  }
  unsigned next() {
    if (offset % 4 == 0) make_block();
    return block[offset++ % 4];
  }
  // Goes count numbers ahead, or with log_unit > 0 count subsequences.
  void skip(unsigned long long count, unsigned log_unit) {
    (log_unit > 0 ? subsequence : offset) += count;
    if (offset % 4 != 0) make_block();
  }
  void init(unsigned long long seed_, unsigned long long subsequence_, unsigned long long offset_) {
    seed = seed_;
    subsequence = subsequence_;
    offset = offset_;
    make_block(); // all of the state, because kernels copy it whole
  }
  static constexpr unsigned LOG_SUBSEQUENCE = 66;
  static constexpr bool DOUBLE_OF_ONE_NUMBER = true;
};

} // namespace emulator

#endif
