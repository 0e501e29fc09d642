// Stand-in for CUDA's <vector_functions.h>: make_float4 and its relatives.
#ifndef VECTOR_FUNCTIONS_H
#define VECTOR_FUNCTIONS_H

#include "vector_types.h"

#ifdef __cplusplus
#define EMULATOR_INLINE inline
#else
#define EMULATOR_INLINE static inline
#endif

#define EMULATOR_MAKE(prefix, Element)                                                             \
  EMULATOR_INLINE prefix##1 make_##prefix##1(Element x) {                                          \
    prefix##1 vector;                                                                              \
    vector.x = x;                                                                                  \
    return vector;                                                                                 \
  }                                                                                                \
  EMULATOR_INLINE prefix##2 make_##prefix##2(Element x, Element y) {                               \
    prefix##2 vector;                                                                              \
    vector.x = x, vector.y = y;                                                                    \
    return vector;                                                                                 \
  }                                                                                                \
  EMULATOR_INLINE prefix##3 make_##prefix##3(Element x, Element y, Element z) {                    \
    prefix##3 vector;                                                                              \
    vector.x = x, vector.y = y, vector.z = z;                                                      \
    return vector;                                                                                 \
  }                                                                                                \
  EMULATOR_INLINE prefix##4 make_##prefix##4(Element x, Element y, Element z, Element w) {         \
    prefix##4 vector;                                                                              \
    vector.x = x, vector.y = y, vector.z = z, vector.w = w;                                        \
    return vector;                                                                                 \
  }

EMULATOR_MAKE(char, signed char)
EMULATOR_MAKE(uchar, unsigned char)
EMULATOR_MAKE(short, short)
EMULATOR_MAKE(ushort, unsigned short)
EMULATOR_MAKE(int, int)
EMULATOR_MAKE(uint, unsigned int)
EMULATOR_MAKE(long, long)
EMULATOR_MAKE(ulong, unsigned long)
EMULATOR_MAKE(longlong, long long)
EMULATOR_MAKE(ulonglong, unsigned long long)
EMULATOR_MAKE(float, float)
EMULATOR_MAKE(double, double)

#undef EMULATOR_MAKE
#undef EMULATOR_INLINE

#endif
