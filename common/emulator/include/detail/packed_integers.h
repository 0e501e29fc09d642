// Functions of two halves or four bytes packed in a word (CUDA Math API reference, "SIMD Intrinsics" and "Integer
// Intrinsics"). In names, 2 stands for halves and 4 for bytes, s for signed and u for unsigned parts, ss and us for
// results that saturate.
#ifndef EMULATOR_DETAIL_PACKED_INTEGERS_H
#define EMULATOR_DETAIL_PACKED_INTEGERS_H

#include <limits>

namespace emulator {

// Calls f for each part, of the low bits first, with the parts of all words as int.
template <typename Part, typename F, typename... Words>
unsigned each_part(F f, Words... words) {
  constexpr int bits = 8 * sizeof(Part);
  unsigned result = 0;
  for (int at = 0; at < 32; at += bits) {
    const int part = f(static_cast<int>(static_cast<Part>(words >> at))...);
    result |= (static_cast<unsigned>(part) & ((1u << bits) - 1)) << at;
  }
  return result;
}

template <typename Part>
int saturated(int x) {
  using limits = std::numeric_limits<Part>;
  return x < limits::min() ? limits::min() : x > limits::max() ? limits::max() : x;
}

// The sum of the absolute differences of all parts.
template <typename Part>
unsigned difference_sum(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
    const int difference = static_cast<Part>(a >> at) - static_cast<Part>(b >> at);
    sum += static_cast<unsigned>(difference < 0 ? -difference : difference);
  }
  return sum;
}

} // namespace emulator

// ---- Of one word, and of two --------------------------------------------------------------------

#define EMULATOR_PACKED_1(name, Part, result)                                                      \
  inline unsigned name(unsigned x) {                                                               \
    using part = Part;                                                                             \
    return emulator::each_part<part>([](int a) { return result; }, x);                             \
  }
#define EMULATOR_PACKED_2(name, Part, result)                                                      \
  inline unsigned name(unsigned x, unsigned y) {                                                   \
    using part = Part;                                                                             \
    return emulator::each_part<part>([](int a, int b) { return result; }, x, y);                   \
  }
// A comparison sets all bits of a part (cmp), or the lowest (set).
#define EMULATOR_PACKED_COMPARISON(suffix, Part, a_to_b)                                           \
  EMULATOR_PACKED_2(__vcmp##suffix, Part, a_to_b ? -1 : 0)                                         \
  EMULATOR_PACKED_2(__vset##suffix, Part, a_to_b ? 1 : 0)
#define EMULATOR_PACKED_ORDER(suffix, Part)                                                        \
  EMULATOR_PACKED_COMPARISON(ge##suffix, Part, a >= b)                                             \
  EMULATOR_PACKED_COMPARISON(gt##suffix, Part, a > b)                                              \
  EMULATOR_PACKED_COMPARISON(le##suffix, Part, a <= b)                                             \
  EMULATOR_PACKED_COMPARISON(lt##suffix, Part, a < b)                                              \
  EMULATOR_PACKED_2(__vmax##suffix, Part, a > b ? a : b)                                           \
  EMULATOR_PACKED_2(__vmin##suffix, Part, a < b ? a : b)                                           \
  EMULATOR_PACKED_2(__vabsdiff##suffix, Part, a > b ? a - b : b - a)                               \
  inline unsigned __vsad##suffix(unsigned a, unsigned b) {                                         \
    return emulator::difference_sum<Part>(a, b);                                                   \
  }
// The average of signed parts rounds halves away from 0, that of unsigned ones up, and __vhaddu down.
#define EMULATOR_PACKED(parts, Signed, Unsigned)                                                   \
  EMULATOR_PACKED_1(__vabs##parts, Signed, a < 0 ? -a : a)                                         \
  EMULATOR_PACKED_1(__vabsss##parts, Signed, emulator::saturated<part>(a < 0 ? -a : a))            \
  EMULATOR_PACKED_1(__vneg##parts, Signed, -a)                                                     \
  EMULATOR_PACKED_1(__vnegss##parts, Signed, emulator::saturated<part>(-a))                        \
  EMULATOR_PACKED_2(__vadd##parts, Signed, a + b)                                                  \
  EMULATOR_PACKED_2(__vaddss##parts, Signed, emulator::saturated<part>(a + b))                     \
  EMULATOR_PACKED_2(__vaddus##parts, Unsigned, emulator::saturated<part>(a + b))                   \
  EMULATOR_PACKED_2(__vsub##parts, Signed, a - b)                                                  \
  EMULATOR_PACKED_2(__vsubss##parts, Signed, emulator::saturated<part>(a - b))                     \
  EMULATOR_PACKED_2(__vsubus##parts, Unsigned, emulator::saturated<part>(a - b))                   \
  EMULATOR_PACKED_2(__vavgs##parts, Signed, (a + b + (a + b >= 0 ? 1 : -1)) / 2)                   \
  EMULATOR_PACKED_2(__vavgu##parts, Unsigned, (a + b + 1) / 2)                                     \
  EMULATOR_PACKED_2(__vhaddu##parts, Unsigned, (a + b) / 2)                                        \
  EMULATOR_PACKED_COMPARISON(eq##parts, Unsigned, a == b)                                          \
  EMULATOR_PACKED_COMPARISON(ne##parts, Unsigned, a != b)                                          \
  EMULATOR_PACKED_ORDER(s##parts, Signed)                                                          \
  EMULATOR_PACKED_ORDER(u##parts, Unsigned)
EMULATOR_PACKED(2, short, unsigned short)
EMULATOR_PACKED(4, signed char, unsigned char)
#undef EMULATOR_PACKED
#undef EMULATOR_PACKED_ORDER
#undef EMULATOR_PACKED_COMPARISON
#undef EMULATOR_PACKED_2
#undef EMULATOR_PACKED_1

// ---- The larger and the smaller, which a Hopper GPU finds with few instructions -----------------

// Of three numbers (vimax3), of a + b and c (viaddmax), of two and which of them it is (vibmax), and no less than 0
// (relu).
namespace emulator {
inline int max_s32(int a, int b) { return a > b ? a : b; }
inline int min_s32(int a, int b) { return a < b ? a : b; }
inline unsigned max_u32(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned min_u32(unsigned a, unsigned b) { return a < b ? a : b; }
inline int add_s32(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
inline unsigned add_u32(unsigned a, unsigned b) { return a + b; }
} // namespace emulator

#define EMULATOR_OF_THREE(m, type, Word, of_two, add)                                              \
  inline Word __vi##m##3_##type(Word a, Word b, Word c) { return of_two(of_two(a, b), c); }        \
  inline Word __viadd##m##_##type(Word a, Word b, Word c) { return of_two(add(a, b), c); }
#define EMULATOR_RELU(m, type, Word, of_two, larger)                                               \
  inline Word __vi##m##_##type##_relu(Word a, Word b) { return larger(of_two(a, b), 0); }          \
  inline Word __vi##m##3_##type##_relu(Word a, Word b, Word c) {                                   \
    return larger(__vi##m##3_##type(a, b, c), 0);                                                  \
  }                                                                                                \
  inline Word __viadd##m##_##type##_relu(Word a, Word b, Word c) {                                 \
    return larger(__viadd##m##_##type(a, b, c), 0);                                                \
  }
#define EMULATOR_WHICH(m, type, Word, of_two)                                                      \
  inline Word __vib##m##_##type(Word a, Word b, bool *is_a) {                                      \
    *is_a = of_two(a, b) == a;                                                                     \
    return of_two(a, b);                                                                           \
  }
#define EMULATOR_WHICH_HALVES(m, type, of_two)                                                     \
  inline unsigned __vib##m##_##type(unsigned a, unsigned b, bool *high_is_a, bool *low_is_a) {     \
    const unsigned found = of_two(a, b);                                                           \
    *high_is_a = found >> 16 == a >> 16;                                                           \
    *low_is_a = (found & 0xFFFF) == (a & 0xFFFF);                                                  \
    return found;                                                                                  \
  }
#define EMULATOR_MAX_AND_MIN(m)                                                                    \
  EMULATOR_OF_THREE(m, s32, int, emulator::m##_s32, emulator::add_s32)                             \
  EMULATOR_OF_THREE(m, u32, unsigned, emulator::m##_u32, emulator::add_u32)                        \
  EMULATOR_OF_THREE(m, s16x2, unsigned, __v##m##s2, __vadd2)                                       \
  EMULATOR_OF_THREE(m, u16x2, unsigned, __v##m##u2, __vadd2)                                       \
  EMULATOR_RELU(m, s32, int, emulator::m##_s32, emulator::max_s32)                                 \
  EMULATOR_RELU(m, s16x2, unsigned, __v##m##s2, __vmaxs2)                                          \
  EMULATOR_WHICH(m, s32, int, emulator::m##_s32)                                                   \
  EMULATOR_WHICH(m, u32, unsigned, emulator::m##_u32)                                              \
  EMULATOR_WHICH_HALVES(m, s16x2, __v##m##s2)                                                      \
  EMULATOR_WHICH_HALVES(m, u16x2, __v##m##u2)
EMULATOR_MAX_AND_MIN(max)
EMULATOR_MAX_AND_MIN(min)
#undef EMULATOR_MAX_AND_MIN
#undef EMULATOR_WHICH_HALVES
#undef EMULATOR_WHICH
#undef EMULATOR_RELU
#undef EMULATOR_OF_THREE

#endif
