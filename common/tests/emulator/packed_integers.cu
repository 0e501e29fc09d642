// Tests the functions of two halves or four bytes packed in a word against loops over the parts.
#include "device_array.h"
#include "semantics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// The functions, the type of their parts, and the result of a part.
#define OF_ONE(X, n, S)                                                                            \
  X(__vabs##n, S, std::abs(a))                                                                     \
  X(__vabsss##n, S, saturated<S>(std::abs(a)))                                                     \
  X(__vneg##n, S, -a)                                                                              \
  X(__vnegss##n, S, saturated<S>(-a))
#define COMPARED(X, suffix, P, relation)                                                           \
  X(__vcmp##suffix, P, a relation b ? ~0ll : 0)                                                    \
  X(__vset##suffix, P, a relation b)
#define ORDERED(X, suffix, P)                                                                      \
  COMPARED(X, ge##suffix, P, >=)                                                                   \
  COMPARED(X, gt##suffix, P, >)                                                                    \
  COMPARED(X, le##suffix, P, <=)                                                                   \
  COMPARED(X, lt##suffix, P, <)                                                                    \
  X(__vmax##suffix, P, std::max(a, b))                                                             \
  X(__vmin##suffix, P, std::min(a, b))                                                             \
  X(__vabsdiff##suffix, P, std::abs(a - b))
#define OF_TWO(X, n, S, U)                                                                         \
  X(__vadd##n, S, a + b)                                                                           \
  X(__vaddss##n, S, saturated<S>(a + b))                                                           \
  X(__vaddus##n, U, saturated<U>(a + b))                                                           \
  X(__vsub##n, S, a - b)                                                                           \
  X(__vsubss##n, S, saturated<S>(a - b))                                                           \
  X(__vsubus##n, U, saturated<U>(a - b))                                                           \
  X(__vavgs##n, S, std::llround(static_cast<double>(a + b) / 2))                                   \
  X(__vavgu##n, U, (a + b + 1) >> 1)                                                               \
  X(__vhaddu##n, U, (a + b) >> 1)                                                                  \
  COMPARED(X, eq##n, U, ==)                                                                        \
  COMPARED(X, ne##n, U, !=)                                                                        \
  ORDERED(X, s##n, S)                                                                              \
  ORDERED(X, u##n, U)
#define SUMS(X) X(__vsads2, short) X(__vsadu2, uint16_t) X(__vsads4, int8_t) X(__vsadu4, uint8_t)
#define OF_THREE_TYPES(X, name, of)                                                                \
  X(name##_s32, int, of)                                                                           \
  X(name##_u32, unsigned, of)                                                                      \
  X(name##_s16x2, short, of)                                                                       \
  X(name##_u16x2, unsigned short, of)
#define NOT_NEGATIVE(X, name, of)                                                                  \
  X(name##_s32_relu, int, std::max(0ll, of))                                                       \
  X(name##_s16x2_relu, short, std::max(0ll, of))
#define EACH_OF_THREE(X, name, of) OF_THREE_TYPES(X, name, of) NOT_NEGATIVE(X, name, of)
#define OF_THREE(X)                                                                                \
  EACH_OF_THREE(X, __vimax3, std::max({a, b, c}))                                                  \
  EACH_OF_THREE(X, __vimin3, std::min({a, b, c}))                                                  \
  EACH_OF_THREE(X, __viaddmax, std::max<long long>(wrapped(a + b), c))                             \
  EACH_OF_THREE(X, __viaddmin, std::min<long long>(wrapped(a + b), c))
#define OF_TWO_OR_0(X)                                                                             \
  NOT_NEGATIVE(X, __vimax, std::max(a, b)) NOT_NEGATIVE(X, __vimin, std::min(a, b))

#define ALL_OF_ONE(X) OF_ONE(X, 2, short) OF_ONE(X, 4, int8_t)
#define ALL_OF_TWO(X) OF_TWO(X, 2, short, uint16_t) OF_TWO(X, 4, int8_t, uint8_t) OF_TWO_OR_0(X)

#define COUNT(...) +1
enum {
  FUNCTIONS = 0 ALL_OF_ONE(COUNT) ALL_OF_TWO(COUNT) SUMS(COUNT) OF_THREE(COUNT),
  WHICH = 2 * (2 * 2 + 2 * 3) // results and predicates of __vibmax and __vibmin
};

#define CALL_1(function, ...) *out++ = function(a);
#define CALL_2(function, ...) *out++ = function(a, b);
#define CALL_3(function, ...) *out++ = function(a, b, c);
#define CALL_WHICH(function)                                                                       \
  *out++ = function(a, b, &high);                                                                  \
  *out++ = high;
#define CALL_WHICH_HALVES(function)                                                                \
  *out++ = function(a, b, &high, &low);                                                            \
  *out++ = high;                                                                                   \
  *out++ = low;
#define EACH_WHICH(X, Y, name) X(name##_s32) X(name##_u32) Y(name##_s16x2) Y(name##_u16x2)

__global__ void packed_kernel(unsigned *out, const unsigned *words, int count) {
  const unsigned a = words[blockIdx.x], b = words[threadIdx.x];
  const unsigned c = words[(blockIdx.x * 5 + threadIdx.x * 3 + 1) % count];
  out += (blockIdx.x * blockDim.x + threadIdx.x) * (FUNCTIONS + WHICH);
  ALL_OF_ONE(CALL_1) ALL_OF_TWO(CALL_2) SUMS(CALL_2) OF_THREE(CALL_3) bool high, low;
  EACH_WHICH(CALL_WHICH, CALL_WHICH_HALVES, __vibmax)
  EACH_WHICH(CALL_WHICH, CALL_WHICH_HALVES, __vibmin)
}

// ---- What is expected ---------------------------------------------------------------------------

template <typename Part>
static long long saturated(long long x) {
  using limits = std::numeric_limits<Part>;
  return std::clamp<long long>(x, limits::min(), limits::max());
}

template <typename Part, typename F>
static unsigned loop(F part, unsigned x, unsigned y, unsigned z) {
  constexpr int bits = 8 * sizeof(Part);
  unsigned long long result = 0;
  for (int at = 0; at < 32; at += bits) {
    const auto of = [&](unsigned word) {
      return static_cast<long long>(static_cast<Part>(word >> at));
    };
    const unsigned long long found = static_cast<unsigned long long>(part(of(x), of(y), of(z)));
    result |= (found & ((1ull << bits) - 1)) << at;
  }
  return static_cast<unsigned>(result);
}

template <typename Part>
static unsigned sum_of_differences(unsigned x, unsigned y) {
  long long sum = 0;
  for (int at = 0; at < 32; at += 8 * static_cast<int>(sizeof(Part)))
    sum +=
        std::abs(static_cast<long long>(static_cast<Part>(x >> at)) - static_cast<Part>(y >> at));
  return static_cast<unsigned>(sum);
}

#define EXPECTED(function, Part, result)                                                           \
  names.push_back(#function);                                                                      \
  expected.push_back(loop<Part>(                                                                   \
      [](long long a, long long b, long long c) -> long long {                                     \
        const auto wrapped = [](long long sum) { return static_cast<Part>(sum); };                 \
        (void)wrapped, (void)a, (void)b, (void)c;                                                  \
        return result;                                                                             \
      },                                                                                           \
      a, b, c));
#define EXPECTED_SUM(function, Part)                                                               \
  names.push_back(#function);                                                                      \
  expected.push_back(sum_of_differences<Part>(a, b));

// The result of max or min, and whether a is it: of words, then for both halves, signed and unsigned.
static void expect_which(bool largest, unsigned a, unsigned b, std::vector<unsigned> &expected) {
  const auto is_a = [&](long long x, long long y) { return largest ? x >= y : x <= y; };
  const auto add = [&](bool high, bool low) {
    expected.push_back((high ? a & 0xFFFF0000 : b & 0xFFFF0000) | (low ? a & 0xFFFF : b & 0xFFFF));
    expected.push_back(high);
  };
  const bool s32 = is_a(static_cast<int>(a), static_cast<int>(b)), u32 = is_a(a, b);
  add(s32, s32);
  add(u32, u32);
  const bool s_low = is_a(static_cast<short>(a), static_cast<short>(b));
  add(is_a(static_cast<short>(a >> 16), static_cast<short>(b >> 16)), s_low);
  expected.push_back(s_low);
  const bool u_low = is_a(a & 0xFFFF, b & 0xFFFF);
  add(is_a(a >> 16, b >> 16), u_low);
  expected.push_back(u_low);
}

bool packed_integers(error_text *error) {
  const std::vector<unsigned> halves = {0,      1,      2,      0x7f,   0x80,   0x81,   0xff,
                                        0x100,  0x7f80, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0x807f,
                                        0x80ff, 0xff00, 0xff80, 0xfffd, 0xfffe, 0xffff};
  std::vector<unsigned> words;
  for (size_t i = 0; i < halves.size(); i++)
    for (size_t k : {0, 3, 7}) words.push_back(halves[i] << 16 | halves[(i + k) % halves.size()]);
  for (unsigned i = 1; i <= 20; i++) words.push_back(i * 2654435761u);
  const unsigned count = static_cast<unsigned>(words.size());
  device_array<unsigned> device_words(words), out(count * count * (FUNCTIONS + WHICH));
  packed_kernel<<<count, count>>>(out.data(), device_words.data(), static_cast<int>(count));
  if (!device_finished(error, "packed_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (unsigned pair = 0; pair < count * count; pair++) {
    const unsigned i = pair / count, k = pair % count;
    const unsigned a = words[i], b = words[k], c = words[(i * 5 + k * 3 + 1) % count];
    std::vector<const char *> names;
    std::vector<unsigned> expected;
    ALL_OF_ONE(EXPECTED)
    ALL_OF_TWO(EXPECTED) SUMS(EXPECTED_SUM) OF_THREE(EXPECTED) expect_which(true, a, b, expected);
    expect_which(false, a, b, expected);
    for (size_t f = 0; f < expected.size(); f++) {
      const unsigned found = got[pair * (FUNCTIONS + WHICH) + f];
      if (found != expected[f])
        return fail(error, "%s of 0x%08x, 0x%08x, 0x%08x is 0x%08x, not 0x%08x",
                    f < names.size() ? names[f] : "__vibmax or __vibmin", a, b, c, found,
                    expected[f]);
    }
  }
  return true;
}
