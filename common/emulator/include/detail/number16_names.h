// The functions whose names carry the format's: __float2half and __float2bfloat16. cuda_fp16.h and
// cuda_bf16.h include this file with
//   EMULATOR_NAME    half or bfloat16, as it appears in names
//   EMULATOR_NUMBER  __half or __nv_bfloat16
//   EMULATOR_PAIR    __half2 or __nv_bfloat162

#define EMULATOR_PASTE_(a, b, c) a##b##c
#define EMULATOR_PASTE(a, b, c)  EMULATOR_PASTE_(a, b, c)
#define EMULATOR_TO(from)        EMULATOR_PASTE(__##from##2, EMULATOR_NAME, )
#define EMULATOR_FROM(to)        EMULATOR_PASTE(__, EMULATOR_NAME, 2##to)

// ---- Numbers ------------------------------------------------------------------------------------

inline float EMULATOR_FROM(float)(EMULATOR_NUMBER x) { return x; }
inline EMULATOR_NUMBER EMULATOR_TO(float)(float x) { return x; }
inline EMULATOR_NUMBER EMULATOR_TO(double)(double x) { return x; }

#define EMULATOR_TO_ROUNDED(from, From, suffix, direction)                                         \
  inline EMULATOR_NUMBER EMULATOR_PASTE(__##from##2, EMULATOR_NAME, suffix)(From x) {              \
    return EMULATOR_NUMBER::round(x, emulator::rounding::direction);                               \
  }
#define EMULATOR_TO_EACH_ROUNDING(from, From)                                                      \
  EMULATOR_TO_ROUNDED(from, From, _rn, nearest)                                                    \
  EMULATOR_TO_ROUNDED(from, From, _rz, toward_zero)                                                \
  EMULATOR_TO_ROUNDED(from, From, _ru, up)                                                         \
  EMULATOR_TO_ROUNDED(from, From, _rd, down)
EMULATOR_TO_EACH_ROUNDING(float, float)
EMULATOR_TO_EACH_ROUNDING(short, short)
EMULATOR_TO_EACH_ROUNDING(ushort, unsigned short)
EMULATOR_TO_EACH_ROUNDING(int, int)
EMULATOR_TO_EACH_ROUNDING(uint, unsigned int)
EMULATOR_TO_EACH_ROUNDING(ll, long long)
EMULATOR_TO_EACH_ROUNDING(ull, unsigned long long)
#undef EMULATOR_TO_EACH_ROUNDING
#undef EMULATOR_TO_ROUNDED

#define EMULATOR_FROM_ROUNDED(to, To, suffix, round)                                               \
  inline To EMULATOR_PASTE(__, EMULATOR_NAME, 2##to##suffix)(EMULATOR_NUMBER x) {                  \
    return emulator::saturating_cast<To>(round(static_cast<float>(x)));                            \
  }
#define EMULATOR_FROM_EACH_ROUNDING(to, To)                                                        \
  EMULATOR_FROM_ROUNDED(to, To, _rn, emulator::round_even)                                         \
  EMULATOR_FROM_ROUNDED(to, To, _rz, trunc)                                                        \
  EMULATOR_FROM_ROUNDED(to, To, _ru, ceil)                                                         \
  EMULATOR_FROM_ROUNDED(to, To, _rd, floor)
EMULATOR_FROM_EACH_ROUNDING(short, short)
EMULATOR_FROM_EACH_ROUNDING(ushort, unsigned short)
EMULATOR_FROM_EACH_ROUNDING(int, int)
EMULATOR_FROM_EACH_ROUNDING(uint, unsigned int)
EMULATOR_FROM_EACH_ROUNDING(ll, long long)
EMULATOR_FROM_EACH_ROUNDING(ull, unsigned long long)
EMULATOR_FROM_ROUNDED(char, signed char, _rz, trunc)
EMULATOR_FROM_ROUNDED(uchar, unsigned char, _rz, trunc)
#undef EMULATOR_FROM_EACH_ROUNDING
#undef EMULATOR_FROM_ROUNDED

inline unsigned short EMULATOR_PASTE(__, EMULATOR_NAME, _as_ushort)(EMULATOR_NUMBER x) {
  return x.bits();
}
inline short EMULATOR_PASTE(__, EMULATOR_NAME, _as_short)(EMULATOR_NUMBER x) {
  return static_cast<short>(x.bits());
}
inline EMULATOR_NUMBER EMULATOR_PASTE(__ushort_as_, EMULATOR_NAME, )(unsigned short bits) {
  return EMULATOR_NUMBER::from_bits(bits);
}
inline EMULATOR_NUMBER EMULATOR_PASTE(__short_as_, EMULATOR_NAME, )(short bits) {
  return EMULATOR_NUMBER::from_bits(static_cast<unsigned short>(bits));
}

// ---- Pairs: x is the low half, y the high one ---------------------------------------------------

inline EMULATOR_PAIR EMULATOR_PASTE(make_, EMULATOR_NAME, 2)(EMULATOR_NUMBER x, EMULATOR_NUMBER y) {
  return EMULATOR_PAIR(x, y);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__float2, EMULATOR_NAME, 2_rn)(float x) {
  return EMULATOR_PAIR(x, x);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__floats2, EMULATOR_NAME, 2_rn)(float x, float y) {
  return EMULATOR_PAIR(x, y);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__float22, EMULATOR_NAME, 2_rn)(float2 a) {
  return EMULATOR_PAIR(a.x, a.y);
}
inline float2 EMULATOR_PASTE(__, EMULATOR_NAME, 22float2)(EMULATOR_PAIR a) {
  return float2(a.x, a.y);
}
inline EMULATOR_NUMBER EMULATOR_PASTE(__low2, EMULATOR_NAME, )(EMULATOR_PAIR a) { return a.x; }
inline EMULATOR_NUMBER EMULATOR_PASTE(__high2, EMULATOR_NAME, )(EMULATOR_PAIR a) { return a.y; }
inline EMULATOR_PAIR EMULATOR_PASTE(__low2, EMULATOR_NAME, 2)(EMULATOR_PAIR a) {
  return EMULATOR_PAIR(a.x, a.x);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__high2, EMULATOR_NAME, 2)(EMULATOR_PAIR a) {
  return EMULATOR_PAIR(a.y, a.y);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__lows2, EMULATOR_NAME, 2)(EMULATOR_PAIR a, EMULATOR_PAIR b) {
  return EMULATOR_PAIR(a.x, b.x);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__highs2, EMULATOR_NAME, 2)(EMULATOR_PAIR a, EMULATOR_PAIR b) {
  return EMULATOR_PAIR(a.y, b.y);
}
inline EMULATOR_PAIR EMULATOR_PASTE(__halves2, EMULATOR_NAME, 2)(EMULATOR_NUMBER x,
                                                                 EMULATOR_NUMBER y) {
  return EMULATOR_PAIR(x, y);
}
inline EMULATOR_PAIR EMULATOR_PASTE(EMULATOR_FROM(), EMULATOR_NAME, 2)(EMULATOR_NUMBER x) {
  return EMULATOR_PAIR(x, x);
}

#undef EMULATOR_FROM
#undef EMULATOR_TO
#undef EMULATOR_PASTE
#undef EMULATOR_PASTE_
#undef EMULATOR_PAIR
#undef EMULATOR_NUMBER
#undef EMULATOR_NAME
